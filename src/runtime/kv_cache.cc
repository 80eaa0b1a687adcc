#include "runtime/kv_cache.h"

#include <cstdlib>
#include <string>

#include "base/error.h"

namespace omniphi {
namespace {

size_t layer_bytes(const KvCacheShape& shape) {
  return static_cast<size_t>(kv_block_elements(shape.kv_heads, shape.head_dim, shape.block_tokens)) *
         dtype_size(shape.dtype);
}

}  // namespace

size_t KvCacheShape::block_bytes() const { return layer_bytes(*this) * static_cast<size_t>(layers); }

KvPool::~KvPool() {
  for (std::byte* block : all_) std::free(block);
}

std::byte* KvPool::take() {
  if (free_.empty()) {
    void* memory = nullptr;
    if (posix_memalign(&memory, 64, shape_.block_bytes()) != 0) {
      throw Error(ErrorKind::kInternal, "KV cache",
                  "no memory for " + std::to_string(shape_.block_bytes()) + " more bytes", "",
                  "Use a shorter prompt, --max-tokens, or --kv-dtype bf16.");
    }
    all_.push_back(static_cast<std::byte*>(memory));
    free_.push_back(all_.back());
  }
  std::byte* block = free_.back();
  free_.pop_back();
  return block;
}

KvSequence::KvSequence(KvPool& pool) : pool_(pool) {
  const KvCacheShape& shape = pool.shape();
  pointers_.resize(static_cast<size_t>(shape.layers));
  views_.assign(static_cast<size_t>(shape.layers), KvBlocks{nullptr, shape.dtype, shape.block_tokens});
}

void KvSequence::reserve(int64_t length) {
  const KvCacheShape& shape = pool_.shape();
  const size_t needed = static_cast<size_t>((length + shape.block_tokens - 1) / shape.block_tokens);
  const size_t stride = layer_bytes(shape);
  while (blocks_.size() < needed) {
    std::byte* block = pool_.take();
    blocks_.push_back(block);
    for (size_t layer = 0; layer < pointers_.size(); ++layer) pointers_[layer].push_back(block + layer * stride);
  }
  for (size_t layer = 0; layer < pointers_.size(); ++layer) views_[layer].blocks = pointers_[layer].data();
}

void KvSequence::clear() {
  for (std::byte* block : blocks_) pool_.give_back(block);
  blocks_.clear();
  for (auto& pointers : pointers_) pointers.clear();
  length_ = 0;
}

}  // namespace omniphi

// Keys and values of sequences, in blocks of a pool.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"

namespace omniphi {

struct KvCacheShape {
  int layers = 0, kv_heads = 0, head_dim = 0;
  DType dtype = DType::kF32;  // kF32 or kBF16
  int block_tokens = 64;      // power of two, 16 to 256

  // Bytes that one block takes over all layers.
  size_t block_bytes() const;
  // Bytes that one token takes over all layers.
  size_t token_bytes() const { return block_bytes() / static_cast<size_t>(block_tokens); }
};

// Blocks that hold `block_tokens` tokens of every layer. Freed blocks are kept for the next sequence.
class KvPool {
 public:
  explicit KvPool(const KvCacheShape& shape) : shape_(shape) {}
  ~KvPool();
  KvPool(const KvPool&) = delete;
  KvPool& operator=(const KvPool&) = delete;

  const KvCacheShape& shape() const { return shape_; }
  // Aligned to 64 bytes. Throws kInternal when the system has no memory left.
  std::byte* take();
  void give_back(std::byte* block) { free_.push_back(block); }

  size_t blocks_in_use() const { return all_.size() - free_.size(); }
  // Bytes of all blocks ever needed at a time.
  size_t allocated_bytes() const { return all_.size() * shape_.block_bytes(); }

 private:
  KvCacheShape shape_;
  std::vector<std::byte*> all_, free_;
};

// One sequence's blocks. Returns them on destruction.
class KvSequence {
 public:
  explicit KvSequence(KvPool& pool);
  ~KvSequence() { clear(); }
  KvSequence(const KvSequence&) = delete;
  KvSequence& operator=(const KvSequence&) = delete;

  // Tokens whose keys and values are stored.
  int64_t length() const { return length_; }

  // Makes room for tokens up to `length` in all; the views below are valid until the next call.
  void reserve(int64_t length);
  // After a step has stored them.
  void advance(int64_t tokens) { length_ += tokens; }
  // Drops everything: the next step begins at position 0.
  void clear();

  // [layers]
  std::span<const KvBlocks> layers() const { return views_; }

 private:
  KvPool& pool_;
  int64_t length_ = 0;
  std::vector<std::byte*> blocks_;
  std::vector<std::vector<void*>> pointers_;  // per layer: that layer's part of every block
  std::vector<KvBlocks> views_;               // per layer
};

}  // namespace omniphi

#include "base/workspace.h"

#include <algorithm>
#include <cstdint>

namespace omniphi {
namespace {

constexpr size_t kAlignment = 64;
constexpr size_t kSmallestSlab = size_t{1} << 20;

}  // namespace

Workspace::Mark::Mark(Workspace& workspace)
    : workspace_(workspace),
      slab_(workspace.current_),
      used_(workspace.slabs_.empty() ? 0 : workspace.slabs_[workspace.current_].used),
      in_use_(workspace.in_use_) {}

Workspace::Mark::~Mark() {
  for (size_t i = slab_ + 1; i <= workspace_.current_ && i < workspace_.slabs_.size(); ++i)
    workspace_.slabs_[i].used = 0;
  workspace_.current_ = slab_;
  workspace_.in_use_ = in_use_;
  if (!workspace_.slabs_.empty()) workspace_.slabs_[slab_].used = used_;
}

void* Workspace::take_bytes(size_t bytes) {
  const size_t rounded = (std::max<size_t>(bytes, 1) + kAlignment - 1) / kAlignment * kAlignment;
  while (current_ < slabs_.size() && slabs_[current_].size - slabs_[current_].used < rounded) {
    if (current_ + 1 == slabs_.size()) {
      current_ = slabs_.size();
      break;
    }
    ++current_;
  }
  if (current_ >= slabs_.size()) {
    Slab slab;
    slab.size = std::max({rounded, kSmallestSlab, slabs_.empty() ? 0 : slabs_.back().size * 2});
    slab.memory.reset(new std::byte[slab.size + kAlignment]);
    slabs_.push_back(std::move(slab));
    current_ = slabs_.size() - 1;
  }
  Slab& slab = slabs_[current_];
  const auto base = (reinterpret_cast<uintptr_t>(slab.memory.get()) + kAlignment - 1) / kAlignment * kAlignment;
  void* memory = reinterpret_cast<void*>(base + slab.used);
  slab.used += rounded;
  in_use_ += rounded;
  high_water_ = std::max(high_water_, in_use_);
  return memory;
}

}  // namespace omniphi

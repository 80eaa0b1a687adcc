#include "models/causal_model.h"

#include <algorithm>
#include <cstring>

namespace omniphi {

void CausalModel::embed(const KernelContext& ctx, std::span<const int32_t> ids, std::span<const MediaSlot> slots,
                        std::span<const Tensor> media, int64_t first, float* hidden_states) const {
  const Workspace::Mark mark(*ctx.workspace);
  // Ids of slots may be negative. Their rows are overwritten below.
  int32_t* looked_up = ctx.workspace->take<int32_t>(ids.size());
  std::transform(ids.begin(), ids.end(), looked_up, [](int32_t id) { return std::max(id, 0); });
  decoder_.embed(ctx, std::span<const int32_t>(looked_up, ids.size()), hidden_states);
  const int64_t last = first + static_cast<int64_t>(ids.size());
  const int64_t hidden = decoder_.shape.hidden;
  for (size_t i = 0; i < slots.size(); ++i) {
    const int64_t begin = std::max(first, slots[i].offset);
    const int64_t end = std::min(last, slots[i].offset + slots[i].tokens);
    if (begin >= end) continue;
    std::memcpy(hidden_states + (begin - first) * hidden, media[i].data.data() + (begin - slots[i].offset) * hidden,
                sizeof(float) * static_cast<size_t>((end - begin) * hidden));
  }
}

}  // namespace omniphi

#include "kernels/ops.h"

namespace omniphi {

int thread_count(const KernelContext& ctx) { return ctx.pool->threads(); }

float* take_floats(const KernelContext& ctx, int64_t count) {
  return ctx.workspace->take<float>(static_cast<size_t>(count));
}

}  // namespace omniphi

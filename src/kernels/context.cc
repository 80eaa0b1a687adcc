#include "kernels/ops.h"

namespace omniphi {

int thread_count(const KernelContext& ctx) { return ctx.pool->threads(); }

const AttentionSequence* attention_sequences(const AttentionArgs& args, int64_t* count) {
  *count = static_cast<int64_t>(args.sequences.size());
  return args.sequences.data();
}

float* take_floats(const KernelContext& ctx, int64_t count) {
  return ctx.workspace->take<float>(static_cast<size_t>(count));
}

}  // namespace omniphi

#include "layers/linear.h"

namespace omniphi {

WeightRef weight_ref(const View& view) {
  if (view.data == nullptr) return WeightRef{};
  const int64_t rows = view.shape.rank() == 0 ? 1 : view.shape[0];
  return WeightRef{view.data, view.dtype, rows == 0 ? 0 : view.count() / rows};
}

const float* widen_row(const KernelContext& ctx, const WeightRef& weight, int64_t n) {
  const View view{weight.data, weight.dtype, Shape{n}};
  float* row = ctx.workspace->take<float>(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) row[i] = view_at(view, i);
  return row;
}

Linear::Linear(const View& weight_view, const View& bias_view)
    : out(weight_view.shape[0]), weight(weight_ref(weight_view)), bias(weight_ref(bias_view)) {
  in = weight.ld;
}

void Linear::forward(const KernelContext& ctx, const float* x, int64_t m, float* y) const {
  MatmulArgs args;
  args.a = x;
  args.lda = in;
  args.w = weight;
  args.bias = bias;
  args.c = y;
  args.ldc = out;
  args.m = m;
  args.n = out;
  args.k = in;
  ctx.kernels->matmul(ctx, args);
}

void Linear::forward(const KernelContext& ctx, const float* x, int64_t m, float* y,
                     std::span<const AdapterRows> rows) const {
  forward(ctx, x, m, y);
  for (const AdapterRows& span : rows) {
    if (span.adapter < 0) continue;
    const LoraBranch& lora = adapters[static_cast<size_t>(span.adapter)];
    const Workspace::Mark mark(*ctx.workspace);
    float* low = ctx.workspace->take<float>(static_cast<size_t>(span.count * lora.rank));  // [count, rank]
    MatmulArgs down;
    down.a = x + span.begin * in;
    down.lda = in;
    down.w = lora.a;
    down.c = low;
    down.ldc = lora.rank;
    down.m = span.count;
    down.n = lora.rank;
    down.k = in;
    ctx.kernels->matmul(ctx, down);
    MatmulArgs up;
    up.a = low;
    up.lda = lora.rank;
    up.w = lora.b;
    up.c = y + span.begin * out;
    up.ldc = out;
    up.m = span.count;
    up.n = out;
    up.k = lora.rank;
    up.accumulate = true;
    up.scale = lora.scale;
    ctx.kernels->matmul(ctx, up);
  }
}

}  // namespace omniphi

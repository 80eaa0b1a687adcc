#include "layers/mlp_projector.h"

#include <algorithm>

#include "layers/elementwise.h"

namespace omniphi {

void MlpProjector::forward(const KernelContext& ctx, const float* x, int64_t m, float* y) const {
  constexpr int64_t kTile = 1024;
  const Workspace::Mark mark(*ctx.workspace);
  float* hidden = ctx.workspace->take<float>(static_cast<size_t>(std::min(m, kTile) * up.out));  // [tile, up.out]
  for (int64_t row = 0; row < m; row += kTile) {
    const int64_t rows = std::min(kTile, m - row);
    up.forward(ctx, x + row * up.in, rows, hidden);
    activate(ctx, Activation::kGeluErf, hidden, rows, up.out);
    down.forward(ctx, hidden, rows, y + row * down.out);
  }
}

}  // namespace omniphi

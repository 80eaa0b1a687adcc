// Linear -> GELU (erf) -> Linear: from a tower's width to the decoder's.
#pragma once

#include "layers/linear.h"

namespace omniphi {

struct MlpProjector {
  Linear up;    // projection.0
  Linear down;  // projection.2

  // x [m, up.in], y [m, down.out], dense. Works through row tiles, so that the scratch is bounded.
  void forward(const KernelContext& ctx, const float* x, int64_t m, float* y) const;
};

}  // namespace omniphi

// exp and what is made from it, on vectors. A tail runs the same function with masked loads and stores: there are no
// scalar variants, so a value's result does not depend on its place in a row.
#pragma once

#include "kernels/cpu/simd_common.inl.h"

namespace omniphi::OMNIPHI_SIMD {

// e^x within 1 ulp (subnormal results within one unit of 2^-149). -inf gives 0, what overflows gives inf, NaN NaN.
// x = n ln 2 + r with |r| <= ln 2 / 2; ln 2 is cut in two (Cody and Waite) so that n times the first part is exact; e^r
// by its Taylor polynomial of degree 7, whose remainder is below 2^-27.
OMNIPHI_INLINE F32 exp(F32 x) {
  // Beyond these the result is inf or 0. The argument comes second in min and max, so that NaN passes.
  const F32 bounded = max(set(-104.0f), min(set(89.0f), x));
  const F32 n = round(mul(bounded, set(1.44269504088896341f)));
  F32 r = fnma(n, set(0.693359375f), bounded);
  r = fnma(n, set(-2.12194440e-4f), r);
  F32 p = set(1.0f / 5040);
  p = fma(p, r, set(1.0f / 720));
  p = fma(p, r, set(1.0f / 120));
  p = fma(p, r, set(1.0f / 24));
  p = fma(p, r, set(1.0f / 6));
  p = fma(p, r, set(0.5f));
  p = fma(p, mul(r, r), r);
  p = add(p, set(1.0f));
  // 2^n in two factors: n reaches 128 and, for subnormal results, -150.
  const F32 half = round(mul(n, set(0.5f)));
  return mul(mul(p, pow2(half)), pow2(sub(n, half)));
}

// 1 / (1 + e^-x).
OMNIPHI_INLINE F32 sigmoid(F32 x) { return div(set(1.0f), add(set(1.0f), exp(sub(zero(), x)))); }

// x * sigmoid(x).
OMNIPHI_INLINE F32 swish(F32 x) { return div(x, add(set(1.0f), exp(sub(zero(), x)))); }

}  // namespace omniphi::OMNIPHI_SIMD

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
  return scale_by_pow2(p, n);
}

// 1 / (1 + e^-x).
OMNIPHI_INLINE F32 sigmoid(F32 x) { return div(set(1.0f), add(set(1.0f), exp(sub(zero(), x)))); }

// x * sigmoid(x).
OMNIPHI_INLINE F32 swish(F32 x) { return div(x, add(set(1.0f), exp(sub(zero(), x)))); }

// x * sigmoid(1.702 x).
OMNIPHI_INLINE F32 gelu_quick(F32 x) { return div(x, add(set(1.0f), exp(mul(x, set(-1.702f))))); }

// x / 2 * (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), as x * sigmoid(2u): the same value without the cancellation of
// 1 + tanh(u) at negative u.
OMNIPHI_INLINE F32 gelu_tanh(F32 x) {
  const F32 cubic = fma(mul(mul(x, x), x), set(0.044715f), x);
  return div(x, add(set(1.0f), exp(mul(cubic, set(-1.5957691216057308f)))));  // -2 sqrt(2/pi)
}

// Coefficients from the constant term up, of Chebyshev interpolations made for this file:
// erf(z) / z in powers of z^2 for z in [0, 1].
inline constexpr float kErfNear[] = {1.12837917f,    -0.376126269f,    0.112835975f,  -0.0268543288f,
                                     0.00518931194f, -0.000801885499f, 7.88249711e-5f};
// e^(z^2) erfc(z) / t in powers of t = 1 / (1 + z / 2), for z in [0, 10.5].
inline constexpr float kErfcFar[] = {0.282060558f, 0.282953348f,  0.237668728f, 0.230946910f,  -0.116423850f,
                                     0.459523070f, -0.721241389f, 0.471061587f, -0.142662793f, 0.0161138230f};

template <int N>
OMNIPHI_INLINE F32 polynomial(const float (&coefficients)[N], F32 x) {
  F32 p = set(coefficients[N - 1]);
  for (int i = N - 2; i >= 0; --i) p = fma(p, x, set(coefficients[i]));
  return p;
}

// x / 2 * (1 + erf(x / sqrt(2))), the erf within 2e-7 everywhere.
OMNIPHI_INLINE F32 gelu_erf(F32 x) {
  const F32 z = mul(x, set(0.70710678118654752f));
  const F32 size = abs(z);
  const F32 half = mul(x, set(0.5f));
  // Near 0 erf itself; farther out the small tail erfc(|z|), which is all of the result where x is negative.
  const F32 square = mul(z, z);
  const F32 near = fma(half, mul(z, polynomial(kErfNear, square)), half);
  const F32 t = div(set(1.0f), fma(size, set(0.5f), set(1.0f)));
  const F32 erfc = mul(mul(t, polynomial(kErfcFar, t)), exp(sub(zero(), square)));
  const F32 tail = mul(half, erfc);
  const F32 kept = select(less(size, set(12.0f)), tail, zero());  // inf * 0 would be NaN
  const F32 far = select(less(x, zero()), tail, sub(x, kept));
  return select(less(size, set(1.0f)), near, far);
}

}  // namespace omniphi::OMNIPHI_SIMD

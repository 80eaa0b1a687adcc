// Normalisation of rows.
#pragma once

#include "kernels/kernels.h"

namespace omniphi {

// y = x / sqrt(mean(x^2) + eps) * weight (Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019).
struct RmsNorm {
  int64_t size = 0;
  WeightRef weight;  // [size]
  float eps = 0;

  // x and y [m, size], dense; y may be x.
  void forward(const KernelContext& ctx, const float* x, int64_t m, float* y) const;
};

// y = (x - mean) / sqrt(var + eps) * weight + bias (Ba, Kiros, Hinton, "Layer Normalization", 2016).
struct LayerNorm {
  int64_t size = 0;
  WeightRef weight;  // [size]
  WeightRef bias;    // [size]
  float eps = 0;

  // x and y [m, size], dense; y may be x.
  void forward(const KernelContext& ctx, const float* x, int64_t m, float* y) const;
};

}  // namespace omniphi

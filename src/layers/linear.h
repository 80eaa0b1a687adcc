// A matrix product with an optional bias and optional LoRA branches.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "tensor/tensor.h"

namespace omniphi {

// A weight where it lies: rows are the first extent, everything behind it is one row ([out, in], [out, in, 1, 1], [n]).
WeightRef weight_ref(const View& view);

// A vector [n] such as a separator as float32, in the workspace until the surrounding Mark ends.
const float* widen_row(const KernelContext& ctx, const WeightRef& weight, int64_t n);

// scale * B(A(x)), added to the base product (Hu et al., "LoRA: Low-Rank Adaptation of Large Language Models", 2021).
struct LoraBranch {
  WeightRef a;  // [rank, in]
  WeightRef b;  // [out, rank]
  int64_t rank = 0;
  float scale = 0;  // alpha / rank
};

// Consecutive rows of a batch that use the same LoRA branch.
struct AdapterRows {
  int64_t begin = 0;
  int64_t count = 0;
  int adapter = -1;  // index into Linear::adapters; -1: none
};

struct Linear {
  int64_t in = 0, out = 0;
  WeightRef weight;  // [out, in]
  WeightRef bias;    // [out] or absent
  std::vector<LoraBranch> adapters;

  Linear() = default;
  explicit Linear(const View& weight_view) : Linear(weight_view, View{}) {}
  // `bias_view` with null data: no bias.
  Linear(const View& weight_view, const View& bias_view);

  // y = x W^T + bias, x [m, in], y [m, out], both dense; y must not overlap x.
  void forward(const KernelContext& ctx, const float* x, int64_t m, float* y) const;

  // The same, then each span of rows gets its branch's product added.
  void forward(const KernelContext& ctx, const float* x, int64_t m, float* y, std::span<const AdapterRows> rows) const;
};

}  // namespace omniphi

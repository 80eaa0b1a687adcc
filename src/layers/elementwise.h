// Activations, gated products and residual additions on dense rows.
#pragma once

#include "kernels/kernels.h"

namespace omniphi {

// x [m, n] in place.
void activate(const KernelContext& ctx, Activation kind, float* x, int64_t m, int64_t n);

// The decoder's gate: x [m, 2 * n] = [gate, up], y [m, n] = up * silu(gate).
void silu_gate(const KernelContext& ctx, const float* x, int64_t m, int64_t n, float* y);

// The Conformer's gate: x [m, 2 * n] = [value, gate], y [m, n] = (value + value_bias) * swish(gate + gate_bias).
void swish_glu(const KernelContext& ctx, const float* x, int64_t m, int64_t n, float* y, WeightRef value_bias = {},
               WeightRef gate_bias = {});

// y += scale * x, both [m, n].
void add_scaled(const KernelContext& ctx, const float* x, int64_t m, int64_t n, float* y, float scale = 1);

}  // namespace omniphi

// Reading weights one by one, for the plain reference.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/kernels.h"

namespace omniphi::ref {

// Element (row, column) of a weight, widened; `data` may be unaligned.
inline float weight_at(const WeightRef& w, int64_t row, int64_t column) {
  const int64_t index = row * w.ld + column;
  if (w.dtype == DType::kF32) {
    float value;
    std::memcpy(&value, static_cast<const char*>(w.data) + index * 4, 4);
    return value;
  }
  uint16_t bits;
  std::memcpy(&bits, static_cast<const char*>(w.data) + index * 2, 2);
  return w.dtype == DType::kBF16 ? bf16_to_f32(bits) : f16_to_f32(bits);
}

// Element of a vector such as a bias.
inline float weight_at(const WeightRef& w, int64_t index) { return weight_at(w, 0, index); }

// The same, or 0 where the weight is absent.
inline float weight_or_zero(const WeightRef& w, int64_t index) { return w.data ? weight_at(w, index) : 0.0f; }

}  // namespace omniphi::ref

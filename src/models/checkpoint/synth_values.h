// Random weights: cheap, reproducible, and such that activations stay finite.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/checkpoint/tensor_list.h"
#include "tensor/dtype.h"

namespace omniphi {

// What the values of a tensor scatter around, and how far.
struct Scatter {
  float mean = 0;
  float deviation = 0;  // standard deviation
};

// Norms near 1, biases small, matrices with 1 / sqrt(inputs) so that a layer keeps the size of what goes through it,
// mel statistics as those of speech.
Scatter scatter_of(const ExpectedTensor& tensor);

// The key of a tensor's values, from the seed and its name.
uint64_t value_key(uint64_t seed, const ExpectedTensor& tensor);

// Fills `out` with the values number `first`, `first` + 1, ... of a tensor: a sum of four uniform bytes each, close to
// normal. `first` must be even. `dtype` is kBF16, kF16 or kF32.
void fill_values(uint64_t key, Scatter scatter, int64_t first, DType dtype, std::span<std::byte> out);

}  // namespace omniphi

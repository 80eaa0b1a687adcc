// What the kernel tests and benchmarks share: a context for an instruction set, and random matrices and weights with
// whatever padding and misalignment a case asks for.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "kernels/kernels.h"

namespace omniphi::kernel_testing {

// A pool, a workspace and the kernels of one instruction set.
struct Runner {
  Runner(Isa isa, int threads) : pool(threads), context{&kernel_table(isa), &pool, &workspace} {}

  const KernelTable& kernels() const { return *context.kernels; }

  ThreadPool pool;
  Workspace workspace;
  KernelContext context;
};

// A float matrix [rows, columns] with ld floats from row to row. Padding holds a value that no kernel may read or
// write.
struct Matrix {
  static constexpr float kPadding = -12345.5f;

  Matrix(int64_t rows_, int64_t columns_, int64_t padding = 0)
      : rows(rows_), columns(columns_), ld(columns_ + padding), data(static_cast<size_t>(rows_ * ld), kPadding) {}

  float* row(int64_t i) { return data.data() + i * ld; }
  const float* row(int64_t i) const { return data.data() + i * ld; }
  float at(int64_t i, int64_t j) const { return data[static_cast<size_t>(i * ld + j)]; }

  void fill_normal(std::mt19937& rng, float deviation = 1) {
    std::normal_distribution<float> normal(0, deviation);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) row(i)[j] = normal(rng);
    }
  }

  bool padding_intact() const {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = columns; j < ld; ++j) {
        if (at(i, j) != kPadding) return false;
      }
    }
    return true;
  }

  int64_t rows, columns, ld;
  std::vector<float> data;
};

// A weight [rows, columns] of any float type that starts `offset` bytes past an aligned address. Its last element ends
// the allocation, so that AddressSanitizer sees a kernel that reads behind it.
class Weight {
 public:
  Weight(std::mt19937& rng, int64_t rows, int64_t columns, DType dtype, int64_t padding = 0, int offset = 0)
      : offset_(offset) {
    ref_.dtype = dtype;
    ref_.ld = columns + padding;
    const auto size = static_cast<int64_t>(dtype_size(dtype));
    bytes_.resize(static_cast<size_t>(offset + ((rows - 1) * ref_.ld + columns) * size), 0xff);  // NaN in every type
    bytes_.shrink_to_fit();
    ref_.data = bytes_.data() + offset;
    std::normal_distribution<float> normal(0, 1);
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) set(i, j, normal(rng));
    }
  }
  Weight(const Weight&) = delete;
  Weight& operator=(const Weight&) = delete;

  const WeightRef& ref() const { return ref_; }

  void set(int64_t row, int64_t column, float value) {
    const int64_t index = row * ref_.ld + column;
    unsigned char* p = bytes_.data() + offset_;
    if (ref_.dtype == DType::kF32) {
      std::memcpy(p + index * 4, &value, 4);
    } else {
      const uint16_t bits = ref_.dtype == DType::kBF16 ? f32_to_bf16(value) : f32_to_f16(value);
      std::memcpy(p + index * 2, &bits, 2);
    }
  }

  float at(int64_t row, int64_t column) const {
    const int64_t index = row * ref_.ld + column;
    const unsigned char* p = bytes_.data() + offset_;
    if (ref_.dtype == DType::kF32) {
      float value;
      std::memcpy(&value, p + index * 4, 4);
      return value;
    }
    uint16_t bits;
    std::memcpy(&bits, p + index * 2, 2);
    return ref_.dtype == DType::kBF16 ? bf16_to_f32(bits) : f16_to_f32(bits);
  }

 private:
  int offset_;
  WeightRef ref_;
  std::vector<unsigned char> bytes_;
};

// The vector instruction sets of this machine.
inline std::vector<Isa> vector_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : supported_isas()) {
    if (isa != Isa::kRef) isas.push_back(isa);
  }
  return isas;
}

inline bool same_bits(const float* a, const float* b, int64_t n) {
  return std::memcmp(a, b, static_cast<size_t>(n) * sizeof(float)) == 0;
}

}  // namespace omniphi::kernel_testing

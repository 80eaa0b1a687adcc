// The shapes that every product and norm kernel is held to. One table for each kernel drives its tests of correctness,
// its tests of invariance and its benchmark.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace omniphi::kernel_testing {

// Small shapes are tested, true shapes of the model are measured: a plain loop over them takes too long for a test.
enum class Use { kTest, kBench };

struct MatmulCase {
  const char* name;
  Use use;
  int64_t m, n, k;
  int64_t padding;  // elements between rows of a, w and c
  int offset;       // bytes that the weight is off its alignment
  bool bias;
  bool accumulate;
};

inline std::string describe(const MatmulCase& c) {
  return std::string(c.name) + " m " + std::to_string(c.m) + " n " + std::to_string(c.n) + " k " + std::to_string(c.k);
}

inline std::vector<MatmulCase> matmul_cases() {
  return {
      {"one", Use::kTest, 1, 1, 1, 0, 0, false, false},
      {"one_byte_off", Use::kTest, 1, 1, 1, 0, 1, true, false},
      {"no_depth", Use::kTest, 3, 5, 0, 0, 0, true, false},
      {"short_depth", Use::kTest, 5, 9, 7, 3, 1, false, false},
      {"one_vector", Use::kTest, 4, 4, 16, 0, 2, false, false},
      {"depth_17", Use::kTest, 7, 5, 17, 1, 3, true, false},
      {"row", Use::kTest, 1, 67, 100, 5, 1, true, false},
      {"row_long", Use::kTest, 1, 37, 3072, 0, 0, false, false},
      {"row_many", Use::kTest, 1, 1003, 65, 0, 0, false, true},
      {"two_rows", Use::kTest, 2, 35, 129, 2, 1, false, true},
      {"thin", Use::kTest, 8, 50, 588, 0, 0, true, false},
      {"thin_edge", Use::kTest, 12, 31, 640, 0, 0, false, false},
      {"cached_edge", Use::kTest, 13, 33, 1040, 7, 1, true, false},
      {"cached_odd", Use::kTest, 65, 61, 259, 1, 1, false, true},
      {"cached_deep", Use::kTest, 100, 40, 2500, 0, 0, true, false},
      {"cached_tail", Use::kTest, 203, 71, 1029, 0, 1, false, false},
      {"lora_down", Use::kTest, 130, 24, 512, 0, 0, false, false},
      {"lora_up", Use::kTest, 130, 200, 24, 0, 0, false, true},
      {"narrow", Use::kTest, 300, 3, 333, 0, 0, false, false},
      {"decode_gate_up", Use::kBench, 1, 16384, 3072, 0, 0, false, false},
      {"decode_down", Use::kBench, 1, 3072, 8192, 0, 0, false, false},
      {"decode_2", Use::kBench, 2, 16384, 3072, 0, 0, false, false},
      {"decode_4", Use::kBench, 4, 16384, 3072, 0, 0, false, false},
      {"decode_8", Use::kBench, 8, 16384, 3072, 0, 0, false, false},
      {"prefill_gate_up", Use::kBench, 512, 16384, 3072, 0, 0, false, false},
      {"prefill_down", Use::kBench, 512, 3072, 8192, 0, 0, false, false},
      {"prefill_lora_down", Use::kBench, 512, 320, 3072, 0, 0, false, false},
      {"prefill_lora_up", Use::kBench, 512, 16384, 320, 0, 0, false, true},
      {"siglip_fc1", Use::kBench, 1024, 4304, 1152, 0, 0, true, false},
  };
}

// Rows and columns of norms, maps and gated products.
struct RowsCase {
  const char* name;
  Use use;
  int64_t m, n;
  int64_t padding;  // floats between rows
  int offset;       // bytes that weights and biases are off their alignment
};

inline std::string describe(const RowsCase& c) {
  return std::string(c.name) + " m " + std::to_string(c.m) + " n " + std::to_string(c.n);
}

inline std::vector<RowsCase> rows_cases() {
  return {
      {"one", Use::kTest, 1, 1, 0, 0},           {"short", Use::kTest, 3, 5, 2, 1},
      {"one_vector", Use::kTest, 2, 16, 0, 2},   {"depth_17", Use::kTest, 4, 17, 1, 3},
      {"depth_31", Use::kTest, 5, 31, 0, 1},     {"tail", Use::kTest, 7, 100, 3, 1},
      {"siglip", Use::kTest, 9, 1152, 0, 0},     {"decoder", Use::kTest, 33, 3072, 5, 1},
      {"many", Use::kTest, 700, 67, 0, 0},       {"decode", Use::kBench, 1, 3072, 0, 0},
      {"prefill", Use::kBench, 512, 8192, 0, 0},
  };
}

// Planes of the 3x3 convolution; c_in is 1 or equal to c_out.
struct Conv3x3Case {
  const char* name;
  Use use;
  int64_t h, w;
  int c_in, c_out;
};

inline std::vector<Conv3x3Case> conv3x3_cases() {
  return {
      {"one", Use::kTest, 1, 1, 1, 1},
      {"even", Use::kTest, 4, 6, 1, 19},
      {"odd", Use::kTest, 7, 5, 1, 32},
      {"depthwise", Use::kTest, 9, 8, 33, 33},
      {"depthwise_one", Use::kTest, 1, 3, 8, 8},
      {"first", Use::kBench, 500, 80, 1, 1024},
      {"second", Use::kBench, 250, 40, 1024, 1024},
  };
}

struct CausalConvCase {
  const char* name;
  Use use;
  int64_t m, n;
  int kernel;
};

inline std::vector<CausalConvCase> causal_conv_cases() {
  return {
      {"one", Use::kTest, 1, 1, 1},       {"short", Use::kTest, 2, 7, 3},      {"kernel_3", Use::kTest, 40, 65, 3},
      {"kernel_9", Use::kTest, 5, 17, 9}, {"true", Use::kBench, 500, 1024, 3},
  };
}

}  // namespace omniphi::kernel_testing

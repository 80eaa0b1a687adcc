#include "tensor/dtype.h"

#include <array>
#include <cmath>

namespace omniphi {
namespace {

struct DTypeRow {
  const char* name;
  size_t size;
};

// In the order of DType.
constexpr std::array<DTypeRow, 10> kRows = {{{"F32", 4},
                                             {"BF16", 2},
                                             {"F16", 2},
                                             {"F64", 8},
                                             {"I64", 8},
                                             {"I32", 4},
                                             {"I16", 2},
                                             {"I8", 1},
                                             {"U8", 1},
                                             {"BOOL", 1}}};

}  // namespace

size_t dtype_size(DType dtype) { return kRows[static_cast<size_t>(dtype)].size; }

const char* dtype_name(DType dtype) { return kRows[static_cast<size_t>(dtype)].name; }

bool parse_dtype(std::string_view name, DType* dtype) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (name == kRows[i].name) {
      *dtype = static_cast<DType>(i);
      return true;
    }
  }
  return false;
}

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t mantissa = bits & 0x3ffu;
  if (exponent == 0) {  // zero and subnormals: mantissa * 2^-24 is exact in float32
    const float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign);
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) return static_cast<uint16_t>(sign | 0x7c00u);  // rounds past 65504
  if (magnitude < 0x38800000u) {  // subnormal in half: let the float adder round to a multiple of 2^-24
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(rounded) - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

}  // namespace omniphi

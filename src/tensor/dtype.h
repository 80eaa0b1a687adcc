// Element types of tensors, and exact conversions of single values.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace omniphi {

enum class DType : uint8_t { kF32, kBF16, kF16, kF64, kI64, kI32, kI16, kI8, kU8, kBool };

// Bytes of one element.
size_t dtype_size(DType dtype);

// The name that safetensors uses: "F32", "BF16", ...
const char* dtype_name(DType dtype);

// True and *dtype set when `name` is a safetensors type name that omniphi knows.
bool parse_dtype(std::string_view name, DType* dtype);

// bfloat16 is the upper half of a float32.
inline float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// Rounds to nearest, ties to even; NaN stays NaN.
inline uint16_t f32_to_bf16(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>(bits >> 16);
}

float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);

}  // namespace omniphi

#include "tensor/dtype.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "tensor/tensor.h"

namespace omniphi {
namespace {

TEST(DType, EveryHalfSurvivesTheRoundTrip) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float f16 = f16_to_f32(half), bf16 = bf16_to_f32(half);
    if (!std::isnan(f16)) {
      EXPECT_EQ(f32_to_f16(f16), half);
    } else {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(f16))));
    }
    if (!std::isnan(bf16)) {
      EXPECT_EQ(f32_to_bf16(bf16), half);
    } else {
      EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(bf16))));
    }
  }
}

TEST(DType, RoundsToNearestWithTiesToEven) {
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808000u)), 0x3f80);  // tie: even below
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f818000u)), 0x3f82);  // tie: even above
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x7f7fffffu)), 0x7f80);  // past the largest: infinity
  EXPECT_EQ(f16_to_f32(f32_to_f16(65519.0f)), 65504.0f);
  EXPECT_TRUE(std::isinf(f16_to_f32(f32_to_f16(65520.0f))));
  EXPECT_EQ(f32_to_f16(1.0f + 0x1p-11f), f32_to_f16(1.0f));
  EXPECT_EQ(f32_to_f16(1.0f + 3 * 0x1p-11f), f32_to_f16(1.0f + 0x1p-9f));
  EXPECT_EQ(f32_to_f16(0x1p-25f), 0);  // tie between 0 and the smallest subnormal
  EXPECT_EQ(f32_to_f16(0x1.8p-25f), 1);
}

TEST(DType, NamesRoundTrip) {
  for (int i = 0; i <= static_cast<int>(DType::kBool); ++i) {
    DType parsed = DType::kF32;
    ASSERT_TRUE(parse_dtype(dtype_name(static_cast<DType>(i)), &parsed));
    EXPECT_EQ(parsed, static_cast<DType>(i));
  }
  DType parsed = DType::kF32;
  EXPECT_FALSE(parse_dtype("F8_E4M3", &parsed));
}

TEST(View, ReadsUnalignedValues) {
  char bytes[9] = {};
  const float value = 1.5f;
  std::memcpy(bytes + 1, &value, sizeof value);
  EXPECT_EQ(view_at(View{bytes + 1, DType::kF32, Shape{2}}, 0), 1.5f);
}

}  // namespace
}  // namespace omniphi

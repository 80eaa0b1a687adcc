#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "kernels/attention_testing.h"

namespace omniphi {
namespace {

using namespace testing_attention;

class KvStoreTest : public ::testing::TestWithParam<Isa> {
 protected:
  Runner runner_{GetParam(), 3};
};

// Bits of an element in the cache, f32 or bf16.
uint32_t bits_at(const Cache& cache, int64_t token, int64_t index) {
  const void* data = cache.view.blocks[token / cache.view.block_tokens];
  return cache.view.dtype == DType::kBF16 ? static_cast<const uint16_t*>(data)[index]
                                          : static_cast<const uint32_t*>(data)[index];
}

uint32_t rounded(DType dtype, float value) {
  return dtype == DType::kBF16 ? f32_to_bf16(value) : std::bit_cast<uint32_t>(value);
}

// Stores tokens [first, first + m) into a cache of NaN and checks every slot, the untouched ones included.
void check(Runner& runner, DType dtype, int block, int heads, int dim, int64_t first, int64_t m) {
  const int64_t total = first + m + 3, ld = int64_t{heads} * dim + 5;
  std::mt19937 rng(static_cast<uint32_t>(first + m));
  const std::vector<float> k = random_floats(rng, m * ld), v = random_floats(rng, m * ld);
  const Cache cache(dtype, block, heads, dim, total);
  runner.context.kernels->kv_store(runner.context, {.k = k.data(),
                                                    .v = v.data(),
                                                    .ldk = ld,
                                                    .m = m,
                                                    .first = first,
                                                    .kv_heads = heads,
                                                    .head_dim = dim,
                                                    .kv = cache.view});
  const uint32_t untouched = dtype == DType::kBF16 ? 0xffff : 0xffffffff;
  for (int64_t token = 0; token < (total + block - 1) / block * block; ++token) {
    const bool stored = token >= first && token < first + m;
    for (int h = 0; h < heads; ++h) {
      const int64_t base = int64_t{h} * 2 * dim * block, slot = token % block;
      for (int d = 0; d < dim; ++d) {
        const int64_t from = (token - first) * ld + h * dim + d;
        ASSERT_EQ(bits_at(cache, token, base + d * block + slot), stored ? rounded(dtype, k[from]) : untouched)
            << "key " << token << " head " << h << " dim " << d;
        ASSERT_EQ(bits_at(cache, token, base + dim * block + slot * dim + d),
                  stored ? rounded(dtype, v[from]) : untouched)
            << "value " << token << " head " << h << " dim " << d;
      }
    }
  }
}

TEST_P(KvStoreTest, LaysOutBlocks) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    for (const int block : {16, 64, 256}) {
      for (const int dim : {16, 20, 72, 128}) {
        for (const auto& [first, m] :
             {std::pair<int64_t, int64_t>{0, 1}, {5, 1}, {15, 2}, {3, 70}, {255, 20}, {0, 300}})
          check(runner_, dtype, block, 2, dim, first, m);
      }
    }
  }
}

TEST_P(KvStoreTest, RoundsToNearestEvenAndKeepsNan) {
  const std::vector<uint32_t> bits = {0x3f800000, 0x3f807fff, 0x3f808000, 0x3f808001, 0x3f818000, 0x3f817fff,
                                      0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fffffff, 0xffc00000,
                                      0x00000001, 0x80000000, 0x00008000, 0x00018000};
  std::vector<float> values;
  for (const uint32_t b : bits) values.push_back(std::bit_cast<float>(b));
  const Cache cache(DType::kBF16, 16, 1, 16, 1);
  runner_.context.kernels->kv_store(runner_.context, {.k = values.data(),
                                                      .v = values.data(),
                                                      .ldk = 16,
                                                      .m = 1,
                                                      .first = 0,
                                                      .kv_heads = 1,
                                                      .head_dim = 16,
                                                      .kv = cache.view});
  const std::vector<uint32_t> expected = {0x3f80, 0x3f80, 0x3f80, 0x3f81, 0x3f82, 0x3f81, 0x7f80, 0x7f80,
                                          0xff80, 0x7fc0, 0x7fff, 0xffc0, 0x0000, 0x8000, 0x0000, 0x0002};
  for (int d = 0; d < 16; ++d) {
    EXPECT_EQ(bits_at(cache, 0, d * 16), expected[d]) << std::hex << bits[d];
    EXPECT_EQ(bits_at(cache, 0, 256 + d), expected[d]) << std::hex << bits[d];
  }
}

INSTANTIATE_TEST_SUITE_P(Isas, KvStoreTest, ::testing::ValuesIn(supported_isas()), isa_test_name);

}  // namespace
}  // namespace omniphi

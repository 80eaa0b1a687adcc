#include "media/resample.h"

#include <gtest/gtest.h>

#include "testing/golden.h"

namespace omniphi {
namespace {

// The signal of tools/make_audio_fixtures.py: exact in double on both sides.
std::vector<double> test_signal(int64_t length) {
  std::vector<double> x(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    x[static_cast<size_t>(i)] = static_cast<double>((31 * i * i + 7919 * i) % 2003) / 1024 - 1;
  }
  return x;
}

// SciPy's resample_poly, stored. Sums of up to 240 products of about 1 in another order differ by some 1e-14.
TEST(Resample, EqualsScipy) {
  const auto table = testing::read_test_json(std::string(OMNIPHI_SOURCE_DIR) + "/tests/data/audio/resampled.json");
  for (const auto& entry : table.at("cases")) {
    const int64_t rate = entry.at("rate"), length = entry.at("length");
    const std::vector<double> y = resample_poly(test_signal(length), table.at("up"), rate);
    ASSERT_EQ(y.size(), entry.at("output").get<size_t>()) << rate << " Hz, " << length << " samples";
    for (size_t i = 0; i < entry.at("at").size(); ++i) {
      const size_t at = entry.at("at")[i];
      EXPECT_NEAR(y[at], entry.at("values")[i].get<double>(), 1e-12) << rate << " Hz, " << length << ", output " << at;
    }
  }
}

TEST(Resample, AnyBlocksGiveEqualBits) {
  const std::vector<double> x = test_signal(20000);
  for (const int64_t rate : {8001, 11025, 44100, 96000, 192000}) {
    const std::vector<double> whole = resample_poly(x, 16000, rate);
    for (const size_t block : {1u, 13u, 4096u}) {
      Resampler resampler(16000, rate);
      std::vector<double> pieces;
      for (size_t at = 0; at < x.size(); at += block) {
        resampler.push(std::span(x).subspan(at, std::min(block, x.size() - at)), pieces);
      }
      resampler.finish(pieces);
      ASSERT_EQ(pieces, whole) << rate << " Hz in blocks of " << block;
    }
  }
}

// More input than one internal block holds.
TEST(Resample, LongInputEqualsItsParts) {
  const std::vector<double> x = test_signal(200'000);
  const std::vector<double> y = resample_poly(x, 160, 441);
  ASSERT_EQ(y.size(), 72563u);
  // Output 40000 depends on the inputs within 10 * 441 / 160 of 110250 only, up to a start at a multiple of 441.
  const std::vector<double> part(x.begin() + 441 * 240, x.begin() + 441 * 240 + 10000);
  const std::vector<double> z = resample_poly(part, 160, 441);
  for (size_t i = 0; i < 1000; ++i) EXPECT_EQ(y[160 * 240 + 500 + i], z[500 + i]) << i;
}

TEST(Resample, EqualRatesCopy) {
  const std::vector<double> x = test_signal(100);
  EXPECT_EQ(resample_poly(x, 44100, 44100), x);
  EXPECT_TRUE(resample_poly({}, 3, 2).empty());
}

TEST(Resample, OutputSizeRoundsUpAndDoesNotOverflow) {
  EXPECT_EQ(Resampler::output_size(1, 16000, 44100), 1);
  EXPECT_EQ(Resampler::output_size(441, 16000, 44100), 160);
  EXPECT_EQ(Resampler::output_size(442, 16000, 44100), 161);
  EXPECT_EQ(Resampler::output_size(int64_t{44101} << 40, 16000, 44101), int64_t{16000} << 40);
}

}  // namespace
}  // namespace omniphi

#include "media/log_mel.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "media/fft.h"
#include "testing/golden.h"

namespace omniphi {
namespace {

std::vector<double> chirp(size_t samples) {
  std::vector<double> x(samples);
  for (size_t i = 0; i < samples; ++i) {
    const double t = static_cast<double>(i) / 16000;
    x[i] = 0.4 * std::sin(2 * std::numbers::pi * (200 + 900 * t) * t);
  }
  return x;
}

TEST(RealFft, EqualsTheDefinition) {
  for (const int size : {256, 512}) {
    RealFft fft(size);
    std::vector<double> x(static_cast<size_t>(size));
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<double>((i * 7919) % 13) - 6 + 0.25 * static_cast<double>(i % 3);
    for (int repeat = 0; repeat < 2; ++repeat) {  // the second use must not see the first
      std::copy(x.begin(), x.end(), fft.input().begin());
      const auto spectrum = fft.transform();
      ASSERT_EQ(spectrum.size(), x.size() / 2 + 1);
      for (size_t bin = 0; bin < spectrum.size(); ++bin) {
        std::complex<long double> sum = 0;
        for (size_t i = 0; i < x.size(); ++i) {
          const long double angle =
              -2 * std::numbers::pi_v<long double> * static_cast<long double>(i * bin % x.size()) / size;
          sum += static_cast<long double>(x[i]) * std::complex<long double>(std::cos(angle), std::sin(angle));
        }
        EXPECT_NEAR(spectrum[bin].real(), static_cast<double>(sum.real()), 1e-11) << size << " bin " << bin;
        EXPECT_NEAR(spectrum[bin].imag(), static_cast<double>(sum.imag()), 1e-11) << size << " bin " << bin;
      }
    }
  }
}

TEST(LogMel, FiltersAndWindowsEqualTheReference) {
  const auto constants = testing::read_test_safetensors(testing::golden_root() + "/tables/audio_constants.safetensors");
  bool filters = false, wide = false, narrow = false;
  for (const auto& [name, tensor] : constants) {
    if (tensor.shape == std::vector<int64_t>{kMelChannels, kMelBins}) {
      filters = true;
      EXPECT_TRUE(testing::compare(name, tensor, mel_filters().data, 1e-7));
    } else if (tensor.count() == 400) {
      wide = true;
      EXPECT_TRUE(testing::compare(name, tensor, hamming_window(400), 1e-15));
    } else if (tensor.count() == 200) {
      narrow = true;
      EXPECT_TRUE(testing::compare(name, tensor, hamming_window(200), 1e-15));
    }
  }
  EXPECT_TRUE(filters && wide && narrow);
}

TEST(LogMel, OnlyBins1To245TakePart) {
  for (int channel = 0; channel < kMelChannels; ++channel) {
    const float* row = mel_filters().data.data() + channel * kMelBins;
    EXPECT_EQ(row[0], 0);
    for (int bin = 246; bin < kMelBins; ++bin) EXPECT_EQ(row[bin], 0) << channel << " " << bin;
  }
}

TEST(LogMel, CountsWholeWindowsOnly) {
  EXPECT_EQ(mel_frames(0, MelRate::k16kHz), 0);
  EXPECT_EQ(mel_frames(399, MelRate::k16kHz), 0);
  EXPECT_EQ(mel_frames(400, MelRate::k16kHz), 1);
  EXPECT_EQ(mel_frames(559, MelRate::k16kHz), 1);
  EXPECT_EQ(mel_frames(560, MelRate::k16kHz), 2);
  EXPECT_EQ(mel_frames(199, MelRate::k8kHz), 0);
  EXPECT_EQ(mel_frames(280, MelRate::k8kHz), 2);
  EXPECT_EQ(log_mel(chirp(399), MelRate::k16kHz).shape, (Shape{0, 80}));
  EXPECT_EQ(log_mel(chirp(560), MelRate::k16kHz).shape, (Shape{2, 80}));
}

TEST(LogMel, SilenceIsExactlyZero) {
  for (const float value : log_mel(std::vector<double>(2000), MelRate::k16kHz).data) EXPECT_EQ(value, 0.0f);
}

// Every frame has its own pre-emphasis, so a frame doesn't depend on the one before.
TEST(LogMel, AFrameDependsOnItsWindowAlone) {
  const std::vector<double> x = chirp(4000);
  const Tensor whole = log_mel(x, MelRate::k16kHz);
  const Tensor one = log_mel(std::span(x).subspan(160 * 7, 400), MelRate::k16kHz);
  ASSERT_EQ(one.shape, (Shape{1, 80}));
  for (size_t channel = 0; channel < 80; ++channel) EXPECT_EQ(one.data[channel], whole.data[7 * 80 + channel]);
}

TEST(LogMel, AnyBlocksGiveEqualBits) {
  const std::vector<double> x = chirp(150'000);
  for (const MelRate rate : {MelRate::k16kHz, MelRate::k8kHz}) {
    const Tensor whole = log_mel(x, rate);
    for (const size_t block : {1u, 159u, 70'000u}) {
      LogMel front_end(rate);
      std::vector<float> pieces;
      for (size_t at = 0; at < x.size(); at += block) {
        front_end.push(std::span(x).subspan(at, std::min(block, x.size() - at)), pieces);
      }
      ASSERT_EQ(pieces, whole.data) << "blocks of " << block;
    }
  }
}

// From 4 kHz up the 8 kHz path has no data: channels whose triangles lie there are exactly 0.
TEST(LogMel, TheNarrowPathIsZeroAbove4kHz) {
  const Tensor features = log_mel(chirp(4000), MelRate::k8kHz);
  for (int64_t frame = 0; frame < features.shape[0]; ++frame) {
    EXPECT_EQ(features.data[static_cast<size_t>(frame * 80 + 79)], 0.0f);
    EXPECT_GT(features.data[static_cast<size_t>(frame * 80 + 10)], 0.0f);
  }
}

}  // namespace
}  // namespace omniphi

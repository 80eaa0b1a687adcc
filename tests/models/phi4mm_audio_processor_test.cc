#include "models/phi4mm/processor/audio_processor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "testing/golden.h"

namespace omniphi::phi4mm {
namespace {

// The sheet's own limit for features is 2e-5; two implementations were seen to differ by 1.9e-6.
constexpr double kTolerance = 5e-6;

AudioInput process_golden(const std::string& media, const AudioProcessorOptions& options = {}) {
  return process_audio(testing::read_test_file(testing::golden_path(media)), media, options);
}

AudioClip tone(int64_t samples, int rate, double amplitude = 0.5) {
  AudioClip clip;
  clip.sample_rate = rate;
  clip.channels = 1;
  for (int64_t i = 0; i < samples; ++i) {
    clip.samples.push_back(amplitude * std::sin(2 * std::numbers::pi * 440 * static_cast<double>(i) / rate));
  }
  return clip;
}

Error error_of(const AudioClip& clip) {
  try {
    process_audio(clip, "question.wav");
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::kInternal, "", "");
}

// Every file of the reference's table, odd rates included, resampled as the reference does.
TEST(AudioProcessor, ReferenceMediaEqualsTheReference) {
  const std::string stem = testing::golden_root() + "/tables/audio_features";
  const auto tensors = testing::read_test_safetensors(stem + ".safetensors");
  AudioProcessorOptions options;
  options.reference_media = true;
  int compared = 0;
  for (const auto& entry : testing::read_test_json(stem + ".json")) {
    const std::string media = entry.at("media");
    const AudioInput input = process_golden(media, options);
    EXPECT_EQ(input.sample_rate, entry.at("sample_rate")) << media;
    EXPECT_EQ(input.channels, entry.at("channels")) << media;
    EXPECT_EQ(input.num_samples, entry.at("samples")) << media;
    EXPECT_EQ(input.features.shape, (Shape{entry.at("frames").get<int64_t>(), 80})) << media;
    EXPECT_EQ(input.num_tokens, entry.at("embed_size")) << media;
    EXPECT_EQ(audio_token_count(input.num_samples, input.sample_rate, options), input.num_tokens) << media;
    for (const auto& [name, stored] : tensors) {
      if (name.find(media.substr(6, media.find('.') - 6)) == std::string::npos) continue;
      testing::GoldenTensor golden = stored;
      golden.shape = entry.at("tensor").at("shape").get<std::vector<int64_t>>();
      golden.stride = entry.at("tensor").value("stride", int64_t{1});
      golden.stats = entry.at("tensor").at("stats");
      EXPECT_TRUE(testing::compare(media, golden, input.features.data, kTolerance));
      ++compared;
    }
  }
  EXPECT_EQ(compared, 11);
}

// Every case with audio. The reference pads the features of several audios to the longest with zeros.
TEST(AudioProcessor, FeaturesOfEveryCaseEqualTheReference) {
  for (const char* name : {"a_16k", "a_1s", "a_8k", "a_long", "a_stereo", "m_image_audio", "m_interleaved",
                           "m_marker_order", "m_two_audios", "m_two_audios_long", "m_two_audios_rev"}) {
    const testing::Golden golden = testing::Golden::load(name);
    ASSERT_TRUE(golden.has("audio_features")) << name;
    const auto shape = golden.tensor("audio_features").shape;  // [audios, frames, 80]
    std::vector<float> padded(static_cast<size_t>(golden.tensor("audio_features").count()));
    for (size_t i = 0; i < golden.json.at("audios").size(); ++i) {
      const AudioInput input = process_golden(golden.json.at("audios")[i]);
      EXPECT_EQ(input.num_tokens, golden.json.at("audio_embed_sizes")[i]) << name;
      ASSERT_LE(input.features.shape[0], shape[1]) << name;
      std::copy(input.features.data.begin(), input.features.data.end(),
                padded.begin() + static_cast<int64_t>(i) * shape[1] * 80);
    }
    EXPECT_TRUE(testing::compare(golden, "audio_features", padded, kTolerance));
  }
}

// The exact ratio keeps the pitch: a 440 Hz tone peaks in the same mel channel at every rate.
TEST(AudioProcessor, EveryRateKeepsItsPitchAndDuration) {
  const auto peak = [](const AudioInput& input) {
    const float* frame = input.features.data.data() + 20 * 80;
    return std::max_element(frame, frame + 80) - frame;
  };
  const auto expected = peak(process_audio(tone(16000, 16000), "tone"));
  for (const int rate : {8001, 9600, 11025, 12000, 22050, 24000, 32000, 44100, 44101, 48000, 96000, 192000}) {
    const AudioInput input = process_audio(tone(rate, rate), "tone");
    EXPECT_EQ(peak(input), expected) << rate;
    EXPECT_EQ(input.num_tokens, 13) << rate;
    EXPECT_EQ(input.features.shape, (Shape{98, 80})) << rate;
    EXPECT_DOUBLE_EQ(input.seconds, 1.0) << rate;
  }
}

// 48 and 32 kHz are whole multiples, so the exact ratio and the reference's factor are the same filter.
TEST(AudioProcessor, WholeMultiplesDoNotDependOnReferenceMedia) {
  AudioProcessorOptions reference;
  reference.reference_media = true;
  for (const char* media : {"media/r48k.wav", "media/r32k.wav", "media/fox16k.wav", "media/short8k.wav"}) {
    EXPECT_EQ(process_golden(media).features.data, process_golden(media, reference).features.data) << media;
  }
  EXPECT_NE(process_golden("media/r44k1.wav").features.shape,
            process_golden("media/r44k1.wav", reference).features.shape);
}

TEST(AudioProcessor, BytesAndClipsGiveEqualBits) {
  for (const char* media : {"media/r44k1.wav", "media/long45s.flac"}) {
    const std::string bytes = testing::read_test_file(testing::golden_path(media));
    EXPECT_EQ(process_audio(decode_audio(bytes, media), media).features.data,
              process_audio(bytes, media).features.data);
  }
}

TEST(AudioProcessor, CountsTokensWithoutSamples) {
  for (const int rate : {8000, 11025, 16000, 44100, 48000}) {
    for (const int64_t samples : {int64_t{2000}, int64_t{9999}, int64_t{30011}}) {
      EXPECT_EQ(audio_token_count(samples, rate), process_audio(tone(samples, rate), "tone").num_tokens) << rate;
    }
  }
  EXPECT_EQ(audio_token_count(399, 16000), 0);
  EXPECT_EQ(audio_token_count_for_seconds(1), 13);
  EXPECT_EQ(audio_token_count_for_seconds(60), 750);
  EXPECT_EQ(audio_token_count_for_seconds(3600), 45000);
}

TEST(AudioProcessor, LowRatesAndShortAudioAreErrorsThatNameTheFile) {
  const Error low = error_of(tone(7999, 7999));
  EXPECT_EQ(low.kind(), ErrorKind::kInput);
  EXPECT_EQ(low.where(), "question.wav");
  EXPECT_NE(low.found().find("7999 Hz"), std::string::npos) << low.what();
  const Error fast = error_of(tone(4000, 2'000'000));
  EXPECT_NE(fast.found().find("2000000 Hz"), std::string::npos) << fast.what();
  for (const auto& [samples, rate] : {std::pair<int64_t, int>{399, 16000}, {199, 8000}, {1, 44100}, {0, 16000}}) {
    const Error too_short = error_of(tone(samples, rate));
    EXPECT_EQ(too_short.where(), "question.wav");
    EXPECT_NE(too_short.expected().find("25 ms"), std::string::npos) << too_short.what();
  }
  EXPECT_NO_THROW(process_audio(tone(400, 16000), "tone"));
  EXPECT_NO_THROW(process_audio(tone(200, 8000), "tone"));
}

TEST(AudioProcessor, OverflowingSamplesAreAnError) {
  EXPECT_NO_THROW(process_audio(tone(800, 16000, 1e6), "tone"));
  EXPECT_NE(error_of(tone(800, 16000, 1e30)).found().find("overflow"), std::string::npos);
  EXPECT_NE(error_of(tone(800, 16000, 1e300)).found().find("overflow"), std::string::npos);
}

}  // namespace
}  // namespace omniphi::phi4mm

// Every format against what independent readers make of it (tests/data/audio, made by tools/make_audio_fixtures.py).
#include "media/audio_decode.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "base/error.h"
#include "testing/golden.h"

namespace omniphi {
namespace {

std::string fixture(const std::string& file) {
  return testing::read_test_file(std::string(OMNIPHI_SOURCE_DIR) + "/tests/data/audio/" + file);
}

const nlohmann::json& decoded_table() {
  static const nlohmann::json table = nlohmann::json::parse(fixture("decoded.json"));
  return table;
}

bool is_lossless(const std::string& file) {
  return file.ends_with(".wav") || file.ends_with(".flac") || file.ends_with(".aiff") || file == "alac.m4a" ||
         file == "flac.oga";
}

// What decoding throws, after checking that it is an input error that names the file.
Error error_of(const std::string& bytes, const AudioOptions& options = {}) {
  try {
    decode_audio(bytes, "dir/question", options);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << error.what();
    EXPECT_EQ(error.where().rfind("dir/question", 0), 0u) << error.what();
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::kInternal, "", "");
}

void expect_found(const std::string& bytes, const std::string& text) {
  const Error error = error_of(bytes);
  EXPECT_NE(error.found().find(text), std::string::npos) << "no '" << text << "' in: " << error.what();
}

// The signal that all fixtures were made from: the mean over its channels.
std::vector<double> source_signal(int rate, int channels) {
  std::vector<double> x(static_cast<size_t>(std::lround(rate * 0.3)));
  for (size_t i = 0; i < x.size(); ++i) {
    const double t = static_cast<double>(i) / rate, angle = 2 * std::numbers::pi * t;
    for (int c = 0; c < channels; ++c) {
      x[i] += (0.3 * std::sin(angle * (300 + 60 * c + 800 * t)) + 0.05 * std::sin(angle * 1700 + c)) / channels;
    }
  }
  return x;
}

// Energy of the difference when `y` is taken `lag` samples later, away from the ends.
double difference(const std::vector<double>& x, const std::vector<double>& y, int lag) {
  double sum = 0;
  for (size_t i = 500; i + 1500 < x.size() && i + 500 < y.size(); ++i) {
    const double d = x[i] - y[static_cast<size_t>(static_cast<int64_t>(i) + lag)];
    sum += d * d;
  }
  return sum;
}

TEST(AudioDecode, EveryFormatEqualsAnIndependentReader) {
  for (const auto& [file, expected] : decoded_table().items()) {
    SCOPED_TRACE(file);
    const AudioClip clip = decode_audio(fixture(file), file);
    EXPECT_EQ(clip.sample_rate, expected.at("sample_rate"));
    EXPECT_EQ(clip.channels, expected.at("channels"));
    ASSERT_EQ(clip.samples.size(), expected.at("samples").get<size_t>());
    // Lossy decoders round differently with every instruction set: a float32 step at full scale, a few times over.
    const double tolerance = is_lossless(file) ? 0 : 2e-6;
    const size_t stride = expected.at("stride");
    for (size_t i = 0, at = 0; at < clip.samples.size(); ++i, at += stride) {
      EXPECT_NEAR(clip.samples[at], expected.at("values")[i].get<double>(), tolerance) << at;
    }
  }
}

// The encoder's delay is gone: the decoded signal lies on the source, not a sample later, and ends with it.
TEST(AudioDecode, DelayAndPaddingAreRemoved) {
  for (const char* file : {"lame.mp3", "cover.mp3", "mpeg2.mp3", "vorbis.ogg", "opus.opus", "opus.webm",
                           "opus_live.webm", "aac.m4a", "aac_faststart.m4a", "cover.m4a", "alac.m4a"}) {
    const AudioClip clip = decode_audio(fixture(file), file);
    const std::vector<double> source = source_signal(clip.sample_rate, clip.channels);
    EXPECT_EQ(clip.samples.size(), source.size()) << file;
    int best = -100;
    for (int lag = -60; lag <= 60; ++lag) {
      if (difference(source, clip.samples, lag) < difference(source, clip.samples, best)) best = lag;
    }
    EXPECT_EQ(best, 0) << file;
  }
}

TEST(AudioDecode, VideoIsRefusedAndCoverArtIsNot) {
  expect_found(fixture("video.mp4"), "a video stream");
  expect_found(fixture("video.webm"), "a video stream");
  for (const char* file : {"cover.mp3", "cover.flac", "cover.m4a"})
    EXPECT_GT(decode_audio(fixture(file), file).samples.size(), 6000u);
}

// Nothing that names other files is ever opened, whatever FFmpeg could do with it.
TEST(AudioDecode, ListsOfFilesAreNoAudio) {
  const std::string target = std::string(OMNIPHI_SOURCE_DIR) + "/tests/data/audio/m16.wav";
  expect_found("#EXTM3U\n#EXTINF:1,\nfile://" + target + "\n", "a playlist");
  expect_found("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n", "a playlist");
  expect_found("ffconcat version 1.0\nfile '" + target + "'\n", "a list of files");
  expect_found("[playlist]\nFile1=" + target + "\n", "a playlist");
  expect_found("<?xml version=\"1.0\"?><MPD/>", "an XML document");
  expect_found("concat:" + target, "bytes that start with");
  expect_found(target, "bytes that start with");
}

TEST(AudioDecode, OtherFilesAreNamed) {
  expect_found("", "an empty file");
  expect_found(std::string(100, '\0'), "bytes that start with 00");
  expect_found("\x89PNG\r\n\x1a\n", "a PNG image");
  expect_found("RIFF....WEBPVP8 ", "a WebP image");
  expect_found("RIFX....WAVEfmt ", "RIFX");
  expect_found(std::string("ID3\4\0\0\0\0\0\0", 10), "nothing but an ID3 tag");
  const Error error = error_of("hello, this is text");
  EXPECT_NE(error.expected().find("FLAC"), std::string::npos);
}

TEST(AudioDecode, TagsAroundTheAudioAreSkipped) {
  const std::string id3v2 = std::string("ID3\3\0\0\0\0\0\x14", 10) + std::string(20, '\0'), padding(100, '\0');
  const std::string id3v1 = "TAG" + std::string(125, ' ');
  const std::string ape = std::string("APETAGEX\xd0\7\0\0\x20\0\0\0\0\0\0\0\0\0\0\x80", 24) + std::string(8, '\0');
  for (const char* file : {"lame.mp3", "no_count.mp3", "s16.flac", "adts.aac"}) {
    const std::string bytes = fixture(file);
    const std::vector<double> expected = decode_audio(bytes, file).samples;
    EXPECT_EQ(decode_audio(id3v2 + padding + bytes, file).samples, expected) << file;
    EXPECT_EQ(decode_audio(bytes + id3v1, file).samples, expected) << file;
    if (std::string(file).ends_with("mp3")) {
      EXPECT_EQ(decode_audio(bytes + ape + id3v1, file).samples, expected) << file;
    }
  }
}

// A cut can only pass where a format without any length ends a frame there.
TEST(AudioDecode, TruncatedFilesAreErrorsThatNameTheFile) {
  for (const auto& [file, expected] : decoded_table().items()) {
    const std::string bytes = fixture(file);
    const bool streamed = file == "ffmpeg_pipe.wav" || file == "sox_pipe.wav";
    const bool frames_only =
        file == "adts.aac" || file == "no_count.mp3" || file == "layer2.mp3" || file == "streamed.flac";
    if (streamed) continue;
    int accepted = 0, cuts = 0;
    for (size_t size = 1; size < bytes.size();
         size += size < 24 || size + 24 > bytes.size() ? 1 : 1 + bytes.size() / 40) {
      // What lies behind the samples isn't missed: AIFF's and WAV's last pad byte, a chunk for peaks, MP4's random
      // access.
      ++cuts;
      try {
        const AudioClip clip = decode_audio(bytes.substr(0, size), file);
        ++accepted;
        if (frames_only || file == "aac_fragmented.mp4") continue;
        EXPECT_EQ(clip.samples.size(), expected.at("samples").get<size_t>()) << file << " cut to " << size;
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInput) << file << " cut to " << size << ": " << error.what();
        EXPECT_EQ(error.where().rfind(file, 0), 0u) << error.what();
      }
    }
    EXPECT_LE(accepted, frames_only ? cuts / 8 : 1) << file << ", " << cuts << " cuts";
  }
}

TEST(AudioDecode, TruncationSaysFoundAndExpected) {
  const auto cut = [](const char* file, double part) {
    const std::string bytes = fixture(file);
    return error_of(bytes.substr(0, static_cast<size_t>(static_cast<double>(bytes.size()) * part)));
  };
  EXPECT_NE(cut("s16.flac", 0.9).expected().find("6615 samples"), std::string::npos) << cut("s16.flac", 0.9).what();
  EXPECT_NE(cut("lame.mp3", 0.7).found().find("the last frame has"), std::string::npos);
  EXPECT_NE(cut("vorbis.ogg", 0.9).found().find("the last Ogg page has"), std::string::npos);
  EXPECT_NE(cut("aac_faststart.m4a", 0.9).found().find("'mdat'"), std::string::npos);
  EXPECT_NE(cut("aac.m4a", 0.5).found().find("truncated"), std::string::npos);
  EXPECT_NE(cut("opus_live.webm", 0.9).found().find("an element"), std::string::npos);
  EXPECT_NE(cut("pcm_24.aiff", 0.5).found().find("'SSND'"), std::string::npos);
}

// At a frame's border, where only the count in the first frame tells.
TEST(AudioDecode, MissingMp3FramesAreCounted) {
  const std::string bytes = fixture("lame.mp3");
  const size_t last = bytes.rfind("\xff\xfb");
  ASSERT_NE(last, std::string::npos);
  const Error error = error_of(bytes.substr(0, last));
  EXPECT_NE(error.expected().find("as its header counts"), std::string::npos) << error.what();
}

TEST(AudioDecode, DamageIsFoundByChecksums) {
  for (const char* file : {"s16.flac", "vorbis.ogg", "opus.opus", "flac.oga"}) {
    std::string bytes = fixture(file);
    bytes[bytes.size() * 3 / 4] = static_cast<char>(bytes[bytes.size() * 3 / 4] ^ 0x10);
    expect_found(bytes, "damaged");
  }
  std::string mp3 = fixture("no_count.mp3");
  mp3.erase(1000, 50);
  expect_found(mp3, "damaged");
}

TEST(AudioDecode, ChangesInTheMiddleAreErrors) {
  expect_found(fixture("vorbis.ogg") + fixture("opus.opus"), "a second stream chained");
  const std::string tag = fixture("mpeg2.mp3");
  const size_t first_frame = tag.find("\xff\xf3");
  ASSERT_NE(first_frame, std::string::npos);
  expect_found(fixture("no_count.mp3") + tag.substr(first_frame), "a change to MPEG audio of 16000 Hz");
}

TEST(AudioDecode, LimitsHoldWhileDecoding) {
  for (const char* file : {"m16.wav", "s24.flac", "mpeg2.mp3"}) {
    const std::string bytes = fixture(file);
    AudioOptions options;
    options.max_bytes = bytes.size() - 1;
    EXPECT_NE(error_of(bytes, options).expected().find("at most"), std::string::npos);
    options = {};
    options.max_samples = 4799;
    EXPECT_NE(error_of(bytes, options).expected().find("at most 4799 samples"), std::string::npos);
    options = {};
    options.max_seconds = 0.29;
    EXPECT_NE(error_of(bytes, options).found().find("more than"), std::string::npos);
    options.max_seconds = 0.3;
    options.max_samples = 4800;
    EXPECT_NO_THROW(decode_audio(bytes, file, options));
  }
}

// Whatever stands in a damaged file, it is read or refused: no crash, no other exception.
TEST(AudioDecode, RandomDamageIsReadOrRefused) {
  std::mt19937 random(1);
  for (const auto& [file, expected] : decoded_table().items()) {
    const std::string bytes = fixture(file);
    for (int round = 0; round < 12; ++round) {
      std::string damaged = bytes;
      for (int flips = 0; flips < 1 << (round % 5); ++flips) {
        // Half of them in the headers.
        const size_t range = random() % 2 ? damaged.size() : std::min<size_t>(damaged.size(), 200);
        damaged[random() % range] = static_cast<char>(random());
      }
      try {
        const AudioClip clip = decode_audio(damaged, file);
        EXPECT_FALSE(clip.samples.empty());
      } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::kInput) << file << ": " << error.what();
      }
    }
  }
}

}  // namespace
}  // namespace omniphi

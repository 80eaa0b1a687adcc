// WAV headers as they occur, built here byte by byte.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "media/audio_decode.h"
#include "testing/golden.h"

namespace omniphi {
namespace {

std::string le(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string chunk(const std::string& id, const std::string& body) {
  return id + le(body.size(), 4) + body + (body.size() % 2 ? std::string(1, '\0') : "");
}

std::string format_chunk(int tag, int channels, int rate, int bits) {
  const int frame = channels * bits / 8;
  return chunk("fmt ", le(tag, 2) + le(channels, 2) + le(rate, 4) + le(static_cast<uint64_t>(rate) * frame, 4) +
                           le(frame, 2) + le(bits, 2));
}

std::string riff(const std::string& chunks) { return "RIFF" + le(chunks.size() + 4, 4) + "WAVE" + chunks; }

// A file whose data chunk and RIFF sizes are given.
std::string with_sizes(uint64_t riff_size, uint64_t data_size, const std::string& data) {
  return "RIFF" + le(riff_size, 4) + "WAVE" + format_chunk(1, 1, 16000, 16) + "data" + le(data_size, 4) + data;
}

std::string ramp16(int samples) {
  std::string data;
  for (int i = 0; i < samples; ++i) data += le(static_cast<uint64_t>(100 * i - 3000), 2);
  return data;
}

std::vector<double> samples_of(const std::string& bytes) { return decode_audio(bytes, "a.wav").samples; }

Error error_of(const std::string& bytes) {
  try {
    decode_audio(bytes, "dir/a.wav");
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput) << error.what();
    EXPECT_EQ(error.where().rfind("dir/a.wav", 0), 0u) << error.what();
    return error;
  }
  ADD_FAILURE() << "nothing was thrown";
  return Error(ErrorKind::kInternal, "", "");
}

TEST(Wav, IntegersScaleByTheirTopBit) {
  const auto mono = [](int tag, int bits, const std::string& data) {
    return samples_of(riff(format_chunk(tag, 1, 16000, bits) + chunk("data", data)));
  };
  EXPECT_EQ(mono(1, 8, std::string("\0\x80\xff\x81", 4)), (std::vector<double>{-1, 0, 127.0 / 128, 1.0 / 128}));
  EXPECT_EQ(mono(1, 16, le(0x8000, 2) + le(0x7fff, 2) + le(1, 2)),
            (std::vector<double>{-1, 32767.0 / 32768, 1.0 / 32768}));
  EXPECT_EQ(mono(1, 24, le(0x800000, 3) + le(0x7fffff, 3) + le(0xffffff, 3)),
            (std::vector<double>{-1, 8388607.0 / 8388608, -1.0 / 8388608}));
  EXPECT_EQ(mono(1, 32, le(0x80000000, 4) + le(1, 4)), (std::vector<double>{-1, 1.0 / 2147483648.0}));
  EXPECT_EQ(mono(3, 32, le(std::bit_cast<uint32_t>(-1.5f), 4)), (std::vector<double>{-1.5}));
  EXPECT_EQ(mono(3, 64, le(std::bit_cast<uint64_t>(0.1), 8)), (std::vector<double>{0.1}));
}

TEST(Wav, ChannelsAreAveragedInDouble) {
  const std::string frames =
      le(3, 2) + le(4, 2) + le(static_cast<uint64_t>(-5), 2) + le(100, 2) + le(101, 2) + le(102, 2);
  const AudioClip clip = decode_audio(riff(format_chunk(1, 3, 48000, 16) + chunk("data", frames)), "a.wav");
  EXPECT_EQ(clip.channels, 3);
  EXPECT_EQ(clip.sample_rate, 48000);
  ASSERT_EQ(clip.samples.size(), 2u);
  EXPECT_DOUBLE_EQ(clip.samples[0], 2.0 / 3 / 32768);
  EXPECT_DOUBLE_EQ(clip.samples[1], 101.0 / 32768);
}

TEST(Wav, OtherChunksAndTheirPaddingAreSkipped) {
  const std::string format = format_chunk(1, 1, 16000, 16), data = chunk("data", ramp16(50));
  const std::vector<double> expected = samples_of(riff(format + data));
  ASSERT_EQ(expected.size(), 50u);
  const std::string list = chunk("LIST", "INFOISFT\3\0\0\0abc"), odd = chunk("junk", "odd");
  EXPECT_EQ(samples_of(riff(format + list + data)), expected);
  EXPECT_EQ(samples_of(riff(odd + format + odd + list + data)), expected);
  EXPECT_EQ(
      samples_of(riff(chunk("bext", std::string(602, 'b')) + format + chunk("fact", le(50, 4)) + data + list + odd)),
      expected);
  // A writer that forgets to pad.
  EXPECT_EQ(samples_of(riff(format + "LIST" + le(3, 4) + "abc" + data)), expected);
  // Bytes behind the data that are no chunk, in a file whose RIFF size ends before them.
  EXPECT_EQ(samples_of(riff(format + data) + std::string("\xff\xfe\x01\x02 not audio", 14)), expected);
}

TEST(Wav, ExtensibleFormatsGiveTheirSubformat) {
  const std::string tail("\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14);
  const auto file = [&](int subformat, int bits, int valid, const std::string& guid_tail, const std::string& data) {
    const std::string body = le(0xfffe, 2) + le(1, 2) + le(8000, 4) + le(8000 * bits / 8, 4) + le(bits / 8, 2) +
                             le(bits, 2) + le(22, 2) + le(valid, 2) + le(4, 4) + le(subformat, 2) + guid_tail;
    return riff(chunk("fmt ", body) + chunk("data", data));
  };
  EXPECT_EQ(samples_of(file(1, 32, 24, tail, le(0x40000000, 4))), (std::vector<double>{0.5}));
  EXPECT_EQ(samples_of(file(3, 32, 32, tail, le(std::bit_cast<uint32_t>(0.25f), 4))), (std::vector<double>{0.25}));
  EXPECT_NE(error_of(file(1, 16, 16, std::string(14, 'x'), "ab")).found().find("subformat"), std::string::npos);
}

// What writers to a pipe leave: all bytes to the end of the file are samples.
TEST(Wav, StreamedHeadersReadToTheEnd) {
  const std::string data = ramp16(60);
  const std::vector<double> expected = samples_of(with_sizes(36 + 120, 120, data));
  ASSERT_EQ(expected.size(), 60u);
  for (const auto& [riff_size, data_size] : std::vector<std::pair<uint64_t, uint64_t>>{{0, 0},
                                                                                       {0xffffffff, 0xffffffff},
                                                                                       {0x7ffff024, 0x7ffff000},
                                                                                       {0x7fffffff, 0x7fffffff - 36},
                                                                                       {36, 0},
                                                                                       {0x80000024, 0x80000000},
                                                                                       {0xffffffff, 0xffffffff - 36},
                                                                                       {0xffffffff, 0},
                                                                                       {0, 0xffffffff},
                                                                                       {36 + 120, 0xffffffff},
                                                                                       {36 + 120, 400},
                                                                                       {0, 400},
                                                                                       {0xffffffff, 400},
                                                                                       {36 + 120, 40},
                                                                                       {0, 40},
                                                                                       {0xffffffff, 40}}) {
    EXPECT_EQ(samples_of(with_sizes(riff_size, data_size, data)), expected) << riff_size << " " << data_size;
  }
  EXPECT_EQ(samples_of(with_sizes(0, 0, data + "x")), expected);  // the last sample is not whole
  EXPECT_EQ(samples_of("RIFF" + le(0xffffffff, 4) + "WAVE" + format_chunk(1, 1, 16000, 16) + chunk("LIST", "INFO") +
                       "data" + le(0xffffffff, 4) + data),
            expected);
}

TEST(Wav, AShorterHeaderIsBelievedWhenChunksFollow) {
  const std::string tail = chunk("LIST", "INFOabcd");
  EXPECT_EQ(samples_of(with_sizes(36 + 120 + tail.size(), 120, ramp16(60) + tail)).size(), 60u);
  EXPECT_EQ(samples_of(with_sizes(0, 120, ramp16(60) + tail)).size(), 60u);
}

TEST(Wav, Rf64TakesItsSizesFromDs64) {
  const auto file = [](uint64_t data_size, const std::string& data) {
    return "RF64" + le(0xffffffff, 4) + "WAVE" +
           chunk("ds64", le(72 + data.size(), 8) + le(data_size, 8) + le(0, 8) + le(0, 4)) +
           format_chunk(1, 1, 16000, 16) + "data" + le(0xffffffff, 4) + data;
  };
  EXPECT_EQ(samples_of(file(80, ramp16(40))).size(), 40u);
  EXPECT_EQ(samples_of(file(80, ramp16(40) + chunk("LIST", "abcd"))).size(), 40u);
}

TEST(Wav, TruncatedFilesSayHowMuchIsMissing) {
  const std::string whole = with_sizes(36 + 120, 120, ramp16(60));
  for (size_t size = 1; size < whole.size(); ++size) error_of(whole.substr(0, size));
  const Error error = error_of(whole.substr(0, 100));
  EXPECT_NE(error.found().find("truncated"), std::string::npos) << error.what();
  EXPECT_NE(error.found().find("56 bytes"), std::string::npos) << error.what();
  EXPECT_NE(error.expected().find("120"), std::string::npos) << error.what();
}

TEST(Wav, EmptyFilesAndEmptyDataAreErrors) {
  EXPECT_NE(error_of("").found().find("empty"), std::string::npos);
  EXPECT_NE(error_of(with_sizes(36, 0, "")).found().find("no samples"), std::string::npos);
  EXPECT_NE(error_of(riff(format_chunk(1, 1, 16000, 16) + chunk("data", "") + chunk("LIST", "INFO")))
                .found()
                .find("no samples"),
            std::string::npos);
}

TEST(Wav, NonFiniteSamplesAreErrorsThatSayWhere) {
  const auto file = [](float value) {
    std::string data;
    for (int i = 0; i < 40; ++i) data += le(std::bit_cast<uint32_t>(i == 33 ? value : 0.1f), 4);
    return riff(format_chunk(3, 1, 16000, 32) + chunk("data", data));
  };
  EXPECT_EQ(samples_of(file(0.2f)).size(), 40u);
  EXPECT_EQ(error_of(file(std::numeric_limits<float>::quiet_NaN())).found(), "NaN at sample 33");
  EXPECT_EQ(error_of(file(-std::numeric_limits<float>::infinity())).found(), "infinity at sample 33");
}

TEST(Wav, FormatsThatCanNotBeReadAreNamed) {
  const auto with_format = [](const std::string& format) { return riff(format + chunk("data", std::string(64, 'x'))); };
  EXPECT_NE(error_of(with_format(format_chunk(2, 1, 16000, 8))).found().find("0x0002"), std::string::npos);  // MS ADPCM
  EXPECT_NE(error_of(with_format(format_chunk(0x55, 1, 16000, 8))).found().find("0x0055"), std::string::npos);  // MP3
  EXPECT_NE(error_of(with_format(format_chunk(1, 1, 16000, 64))).found().find("64 bits"), std::string::npos);
  EXPECT_NE(error_of(with_format(format_chunk(3, 1, 16000, 16))).found().find("16 bits"), std::string::npos);
  EXPECT_NE(error_of(with_format(format_chunk(1, 0, 16000, 16))).found().find("0 channels"), std::string::npos);
  EXPECT_NE(error_of(with_format(format_chunk(1, 1, 0, 16))).found().find("0 Hz"), std::string::npos);
  EXPECT_NE(error_of(with_format(chunk("fmt ", "short"))).found().find("5 bytes"), std::string::npos);
  std::string misaligned = format_chunk(1, 2, 16000, 16);
  misaligned[8 + 12] = 3;
  EXPECT_NE(error_of(with_format(misaligned)).found().find("block align 3"), std::string::npos);
  EXPECT_NE(error_of(riff(chunk("data", "abcd"))).found().find("before any fmt"), std::string::npos);
}

}  // namespace
}  // namespace omniphi

#include "media/audio_wav.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "media/audio_bytes.h"

namespace omniphi::audio {
namespace {

constexpr int kPcm = 1, kFloat = 3, kALaw = 6, kMuLaw = 7, kExtensible = 0xfffe;
constexpr std::string_view kGuidTail("\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14);
constexpr size_t kFramesPerBlock = 1 << 14;

struct WavFormat {
  int tag = 0, channels = 0, sample_rate = 0, bits = 0;
  size_t frame_bytes() const { return static_cast<size_t>(channels) * static_cast<size_t>(bits / 8); }
};

// The sizes that the outer headers declare.
struct RiffSizes {
  uint64_t riff = 0;
  uint64_t data = 0;  // of ds64
  bool has_ds64 = false;
};

// The marks that writers leave when they can't come back to fill in the size. The lowest is sox's.
bool is_placeholder(uint64_t size) {
  return size == 0 || (size >= 0x7ffff000u && size <= 0xffffffffu) || size == ~uint64_t{0};
}

bool is_fourcc(std::string_view bytes, size_t at) {
  if (at + 4 > bytes.size()) return false;
  return std::all_of(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.begin() + static_cast<ptrdiff_t>(at + 4),
                     [](char c) { return c >= 0x20 && c < 0x7f; });
}

// Whether what stands at `at` can be one more chunk (or nothing).
bool is_chunk(std::string_view bytes, size_t at) {
  if (at + 8 > bytes.size()) return true;
  return is_fourcc(bytes, at) && le32(bytes, at + 4) <= bytes.size() - at - 8;
}

std::string hex(uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%04x", value);
  return text;
}

WavFormat parse_format(const AudioSource& source, std::string_view chunk) {
  const std::string where = source.name + ": fmt chunk";
  if (chunk.size() < 16) throw input_error(where, std::to_string(chunk.size()) + " bytes", "at least 16");
  WavFormat format;
  format.tag = le16(chunk, 0);
  format.channels = le16(chunk, 2);
  const uint32_t rate = le32(chunk, 4);
  const size_t frame_bytes = le16(chunk, 12);
  format.bits = le16(chunk, 14);
  if (format.tag == kExtensible) {
    if (chunk.size() < 40 || chunk.substr(26, 14) != kGuidTail) {
      throw input_error(where, "an extensible format without a known subformat", "PCM, float, A-law or mu-law");
    }
    format.tag = le16(chunk, 24);
  }
  if (format.tag != kPcm && format.tag != kFloat && format.tag != kALaw && format.tag != kMuLaw) {
    throw input_error(where, "format " + hex(static_cast<uint32_t>(format.tag)),
                      "PCM (1), float (3), A-law (6) or mu-law (7)", "convert the file to PCM");
  }
  const bool companded = format.tag == kALaw || format.tag == kMuLaw;
  if (format.tag == kPcm) format.bits = (format.bits + 7) / 8 * 8;  // 12 of 16 bits and the like are left-justified
  const bool known = companded              ? format.bits == 8
                     : format.tag == kFloat ? format.bits == 32 || format.bits == 64
                                            : format.bits >= 8 && format.bits <= 32;
  if (!known) {
    throw input_error(
        where, std::to_string(le16(chunk, 14)) + " bits a sample of format " + hex(static_cast<uint32_t>(format.tag)),
        "8 to 32 bits for PCM, 32 or 64 for float, 8 for A-law and mu-law");
  }
  if (format.channels == 0 || rate == 0 || rate > 0x7fffffffu) {
    throw input_error(where, std::to_string(format.channels) + " channels at " + std::to_string(rate) + " Hz",
                      "at least one channel and a positive rate");
  }
  format.sample_rate = static_cast<int>(rate);
  if (frame_bytes != format.frame_bytes()) {
    throw input_error(where, "block align " + std::to_string(frame_bytes),
                      std::to_string(format.frame_bytes()) + " for " + std::to_string(format.channels) +
                          " channels of " + std::to_string(format.bits) + " bits");
  }
  return format;
}

// The samples: see the header for where they end.
std::string_view sample_bytes(const AudioSource& source, size_t at, uint64_t declared, const RiffSizes& sizes) {
  const std::string_view rest = source.bytes.substr(at);
  const uint64_t padded = declared + (declared & 1);
  const bool open_ended = is_placeholder(sizes.riff);
  if (declared > rest.size()) {
    const bool riff_fits = sizes.riff <= source.bytes.size() - 8;
    if (is_placeholder(declared) || open_ended || riff_fits) return rest;
    throw truncated_error(source.name, std::to_string(rest.size()) + " bytes of samples",
                          std::to_string(declared) + " as the data chunk declares");
  }
  if (padded >= rest.size() || is_chunk(rest, padded)) return rest.substr(0, declared);
  // More bytes follow that are no chunk. They are samples if the outer size says that all of the file belongs together.
  const bool riff_covers = open_ended || sizes.riff + 8 >= source.bytes.size();
  return declared == 0 || riff_covers ? rest : rest.substr(0, declared);
}

double mu_law(unsigned char byte) {
  const int u = byte ^ 0xff;
  const int magnitude = ((((u & 0x0f) << 3) + 0x84) << ((u & 0x70) >> 4)) - 0x84;
  return (u & 0x80 ? -magnitude : magnitude) / 32768.0;
}

double a_law(unsigned char byte) {
  const int a = byte ^ 0x55;
  const int segment = (a & 0x70) >> 4;
  int magnitude = ((a & 0x0f) << 4) + 8;
  if (segment > 0) magnitude = (magnitude + 0x100) << (segment - 1);
  return (a & 0x80 ? magnitude : -magnitude) / 32768.0;
}

// Decodes frames with `value(bytes, offset)` and passes on their means. A last part of a frame is dropped.
template <typename Value>
void pump(const WavFormat& format, std::string_view data, SampleSink& sink, Value value) {
  const size_t frame_bytes = format.frame_bytes(), sample_size = static_cast<size_t>(format.bits / 8);
  std::vector<double> block;
  for (size_t frames = data.size() / frame_bytes, done = 0; done < frames;) {
    const size_t count = std::min(kFramesPerBlock, frames - done);
    block.resize(count);
    for (size_t i = 0; i < count; ++i) {
      double sum = 0;
      const size_t frame = (done + i) * frame_bytes;
      for (size_t at = frame; at < frame + frame_bytes; at += sample_size) sum += value(data, at);
      block[i] = sum / format.channels;
    }
    sink.push(block);
    done += count;
  }
}

template <int kBytes>
double signed_pcm(std::string_view data, size_t at) {
  // The sign bit goes to bit 31, so one scale serves all widths.
  const auto bits = static_cast<uint32_t>(little_endian(data, at, kBytes)) << (32 - 8 * kBytes);
  return static_cast<int32_t>(bits) / 2147483648.0;
}

void pump_samples(const WavFormat& format, std::string_view data, SampleSink& sink) {
  const auto byte_at = [](std::string_view bytes, size_t at) { return static_cast<unsigned char>(bytes[at]); };
  if (format.tag == kMuLaw) return pump(format, data, sink, [&](auto d, size_t at) { return mu_law(byte_at(d, at)); });
  if (format.tag == kALaw) return pump(format, data, sink, [&](auto d, size_t at) { return a_law(byte_at(d, at)); });
  if (format.tag == kFloat && format.bits == 32) {
    return pump(format, data, sink,
                [](auto d, size_t at) { return static_cast<double>(std::bit_cast<float>(le32(d, at))); });
  }
  if (format.tag == kFloat) {
    return pump(format, data, sink, [](auto d, size_t at) { return std::bit_cast<double>(le64(d, at)); });
  }
  switch (format.bits) {
    case 8:
      return pump(format, data, sink, [&](auto d, size_t at) { return (byte_at(d, at) - 128) / 128.0; });
    case 16:
      return pump(format, data, sink, signed_pcm<2>);
    case 24:
      return pump(format, data, sink, signed_pcm<3>);
    default:
      return pump(format, data, sink, signed_pcm<4>);
  }
}

}  // namespace

void read_wav(const AudioSource& source, SampleSink& sink) {
  const std::string_view bytes = source.bytes;
  RiffSizes sizes;
  sizes.riff = le32(bytes, 4);
  WavFormat format;
  for (size_t at = 12; at + 8 <= bytes.size();) {
    const std::string_view id = bytes.substr(at, 4);
    uint64_t size = le32(bytes, at + 4);
    at += 8;
    if (id == "data") {
      if (format.channels == 0) throw input_error(source.name, "a data chunk before any fmt chunk", "fmt first");
      if (sizes.has_ds64 && size == 0xffffffffu) size = sizes.data;
      sink.begin(format.sample_rate, format.channels);
      return pump_samples(format, sample_bytes(source, at, size, sizes), sink);
    }
    if (size > bytes.size() - at) {
      throw truncated_error(source.name,
                            std::to_string(bytes.size() - at) + " bytes of the chunk '" + std::string(id) + "'",
                            std::to_string(size));
    }
    const std::string_view chunk = bytes.substr(at, size);
    if (id == "fmt ") format = parse_format(source, chunk);
    if (id == "ds64" && chunk.size() >= 16) sizes = {le64(chunk, 0), le64(chunk, 8), true};
    at += size;
    // Odd chunks are padded to even; some writers forget.
    const bool unpadded = is_fourcc(bytes, at) && !is_chunk(bytes, at + 1);
    if (size % 2 == 1 && !unpadded) ++at;
  }
  throw truncated_error(source.name, "no data chunk", "fmt and data chunks");
}

}  // namespace omniphi::audio

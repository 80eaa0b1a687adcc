// Bytes of an audio file to mono samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace omniphi {

// Limits that hold while decoding. A file that exceeds one is an error that names the file and the limit.
struct AudioOptions {
  size_t max_bytes = size_t{512} << 20;        // of the encoded file
  int64_t max_samples = int64_t{691'200'000};  // a channel: 4 hours at 48 kHz
  double max_seconds = 4 * 3600.0;
};

// One decoded file: the mean over its channels.
struct AudioClip {
  std::vector<double> samples;  // [-1, 1) for integer sources; float sources may exceed it
  int sample_rate = 0;          // Hz, as stored (Opus always decodes at 48,000)
  int channels = 0;             // of the source, before the mean

  double seconds() const { return sample_rate > 0 ? static_cast<double>(samples.size()) / sample_rate : 0; }
};

// Takes samples as they are decoded, so that a long file never stands in memory as a whole.
class SampleSink {
 public:
  virtual ~SampleSink() = default;
  // Called once, before the first samples.
  virtual void begin(int sample_rate, int channels) = 0;
  // The next samples, mean over channels. May throw, which ends the decoding.
  virtual void push(std::span<const double> mono) = 0;
};

// Decodes WAV (PCM of 8 to 32 bit, float, A-law, mu-law, extensible, RF64), FLAC, MP3, Ogg (Vorbis, Opus, FLAC),
// M4A/MP4 (AAC, ALAC), AAC with ADTS, WebM/Matroska (Opus, Vorbis and the codecs before) and AIFF. The format is
// recognised from the bytes alone. Integers of b bits become x / 2^(b-1), as libsndfile does; encoder delay and padding
// are removed. `name` is how errors call the file.
//
// Throws Error{kInput}: an unknown format, a file with a video stream (cover art is no video), an empty or truncated
// file (a length that the file itself declares is not reached), damaged data, a sample that is not finite, a change of
// rate or channels in the middle, a limit exceeded.
void decode_audio(std::string_view bytes, const std::string& name, const AudioOptions& options, SampleSink& sink);

// The same, with all samples in memory (8 bytes each).
AudioClip decode_audio(std::string_view bytes, const std::string& name, const AudioOptions& options = {});

}  // namespace omniphi

#include "media/audio_decode.h"

#include <algorithm>

#include "media/audio_checks.h"
#include "media/audio_ffmpeg.h"
#include "media/audio_format.h"
#include "media/audio_source.h"
#include "media/audio_wav.h"

namespace omniphi {
namespace {

using audio::AudioFormat;

audio::ContainerFacts check(AudioFormat format, const audio::AudioSource& source, std::string_view bytes) {
  switch (format) {
    case AudioFormat::kFlac:
      return audio::check_flac(source, bytes);
    case AudioFormat::kMp3:
      return audio::check_mp3(source, bytes);
    case AudioFormat::kAdts:
      return audio::check_adts(source, bytes);
    case AudioFormat::kOgg:
      return audio::check_ogg(source, bytes);
    case AudioFormat::kMp4:
      return audio::check_mp4(source, bytes);
    case AudioFormat::kMatroska:
      return audio::check_matroska(source, bytes);
    case AudioFormat::kAiff:
      return audio::check_aiff(source, bytes);
    default:
      internal_error("decode_audio", "a format without a check");
  }
}

class Collector : public SampleSink {
 public:
  explicit Collector(AudioClip& clip) : clip_(clip) {}
  void begin(int sample_rate, int channels) override {
    clip_.sample_rate = sample_rate;
    clip_.channels = channels;
  }
  void push(std::span<const double> mono) override {
    clip_.samples.insert(clip_.samples.end(), mono.begin(), mono.end());
  }

 private:
  AudioClip& clip_;
};

}  // namespace

void decode_audio(std::string_view bytes, const std::string& name, const AudioOptions& options, SampleSink& sink) {
  if (bytes.empty()) throw audio::input_error(name, "an empty file", "audio");
  if (bytes.size() > options.max_bytes) {
    throw audio::input_error(name, std::to_string(bytes.size()) + " bytes",
                             "at most " + std::to_string(options.max_bytes), "split the audio");
  }
  const std::string_view body = audio::skip_id3v2(bytes);
  if (body.empty()) throw audio::truncated_error(name, "nothing but an ID3 tag or zeros", "audio after it");
  const AudioFormat format = audio::detect_audio_format(body);
  if (format == AudioFormat::kUnknown) {
    throw audio::input_error(name, audio::describe_bytes(body), audio::kKnownFormats, "convert the file");
  }
  const audio::AudioSource source{bytes, name, options};
  audio::CheckedSink checked(source, sink);
  if (format == AudioFormat::kWav) {
    audio::read_wav({body, name, options}, checked);
  } else {
    audio::read_with_ffmpeg(source, format, check(format, source, body), checked);
  }
  if (checked.total() == 0) throw audio::input_error(name, "no samples", "audio");
}

AudioClip decode_audio(std::string_view bytes, const std::string& name, const AudioOptions& options) {
  AudioClip clip;
  Collector collector(clip);
  decode_audio(bytes, name, options, collector);
  return clip;
}

}  // namespace omniphi

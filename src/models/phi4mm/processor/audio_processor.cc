#include "models/phi4mm/processor/audio_processor.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/error.h"
#include "media/log_mel.h"
#include "media/resample.h"

namespace omniphi::phi4mm {
namespace {

constexpr int kWideRate = 16000;
constexpr int kNarrowRate = 8000;

// How samples of a rate reach the front end: through up/down resampling, at one of its two rates.
struct Route {
  int64_t up = 1, down = 1;
  MelRate mel = MelRate::k16kHz;
};

Route route_of(int sample_rate, const std::string& name, bool reference_media) {
  if (sample_rate < kNarrowRate || sample_rate > Resampler::kMaxRatio) {
    throw Error(ErrorKind::kInput, name, "a sample rate of " + std::to_string(sample_rate) + " Hz",
                "8000 to " + std::to_string(Resampler::kMaxRatio) + " Hz", "resample the audio to 16000 Hz");
  }
  if (sample_rate == kNarrowRate) return {1, 1, MelRate::k8kHz};
  if (!reference_media) return {kWideRate, sample_rate, MelRate::k16kHz};
  if (sample_rate < kWideRate) return {1, sample_rate / kNarrowRate, MelRate::k8kHz};
  return {1, sample_rate / kWideRate, MelRate::k16kHz};
}

std::string duration_text(int64_t samples, int sample_rate) {
  char text[64];
  std::snprintf(text, sizeof text, "%.1f ms of audio", 1000.0 * static_cast<double>(samples) / sample_rate);
  return text;
}

// Resamples and takes features while samples arrive.
class FeatureSink : public SampleSink {
 public:
  FeatureSink(const std::string& name, const AudioProcessorOptions& options) : name_(name), options_(options) {}

  void begin(int sample_rate, int channels) override {
    route_ = route_of(sample_rate, name_, options_.reference_media);
    input_.sample_rate = sample_rate;
    input_.channels = channels;
    resampler_ = std::make_unique<Resampler>(route_.up, route_.down);
    front_end_ = std::make_unique<LogMel>(route_.mel);
  }

  void push(std::span<const double> mono) override {
    input_.num_samples += static_cast<int64_t>(mono.size());
    resampled_.clear();
    resampler_->push(mono, resampled_);
    front_end_->push(resampled_, input_.features.data);
  }

  // The finished input; the sink is spent.
  AudioInput finish() {
    resampled_.clear();
    resampler_->finish(resampled_);
    front_end_->push(resampled_, input_.features.data);
    std::vector<float>& features = input_.features.data;
    const auto frames = static_cast<int64_t>(features.size()) / kMelChannels;
    if (frames == 0) {
      throw Error(ErrorKind::kInput, name_, duration_text(input_.num_samples, input_.sample_rate),
                  "at least one window of 25 ms");
    }
    if (!std::all_of(features.begin(), features.end(), [](float value) { return std::isfinite(value); })) {
      throw Error(ErrorKind::kInput, name_, "samples so large that their power overflows", "samples in [-1, 1)");
    }
    input_.features.shape = Shape{frames, kMelChannels};
    input_.num_tokens = audio_tokens_of_frames(frames);
    input_.seconds = static_cast<double>(input_.num_samples) / input_.sample_rate;
    return std::move(input_);
  }

 private:
  const std::string& name_;
  const AudioProcessorOptions& options_;
  Route route_;
  AudioInput input_;
  std::unique_ptr<Resampler> resampler_;
  std::unique_ptr<LogMel> front_end_;
  std::vector<double> resampled_;
};

}  // namespace

AudioInput process_audio(std::string_view bytes, const std::string& name, const AudioProcessorOptions& options) {
  FeatureSink sink(name, options);
  decode_audio(bytes, name, options.decode, sink);
  return sink.finish();
}

AudioInput process_audio(const AudioClip& clip, const std::string& name, const AudioProcessorOptions& options) {
  constexpr size_t kBlock = 1 << 16;
  FeatureSink sink(name, options);
  sink.begin(clip.sample_rate, clip.channels);
  for (std::span<const double> rest = clip.samples; !rest.empty(); rest = rest.subspan(std::min(rest.size(), kBlock))) {
    sink.push(rest.first(std::min(rest.size(), kBlock)));
  }
  return sink.finish();
}

int64_t audio_token_count(int64_t samples, int sample_rate, const AudioProcessorOptions& options) {
  const Route route = route_of(sample_rate, "audio", options.reference_media);
  return audio_tokens_of_frames(mel_frames(Resampler::output_size(samples, route.up, route.down), route.mel));
}

int64_t audio_token_count_for_seconds(double seconds) {
  return audio_token_count(static_cast<int64_t>(std::floor(seconds * kWideRate)), kWideRate);
}

}  // namespace omniphi::phi4mm

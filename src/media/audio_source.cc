#include "media/audio_source.h"

#include <cmath>

namespace omniphi::audio {
namespace {

std::string format_text(int sample_rate, int channels) {
  return std::to_string(sample_rate) + " Hz with " + std::to_string(channels) +
         (channels == 1 ? " channel" : " channels");
}

}  // namespace

void CheckedSink::begin(int sample_rate, int channels) {
  if (sample_rate_ != 0) {
    if (sample_rate == sample_rate_ && channels == channels_) return;
    throw input_error(
        source_.name,
        "a change to " + format_text(sample_rate, channels) + " after " + std::to_string(total_) + " samples",
        format_text(sample_rate_, channels_) + " throughout", "convert the file to one format");
  }
  if (sample_rate <= 0 || channels <= 0) {
    throw input_error(source_.name, format_text(sample_rate, channels), "a positive rate and number of channels");
  }
  sample_rate_ = sample_rate;
  channels_ = channels;
  next_.begin(sample_rate, channels);
}

void CheckedSink::push(std::span<const double> mono) {
  if (mono.empty()) return;
  for (size_t i = 0; i < mono.size(); ++i) {
    if (std::isfinite(mono[i])) continue;
    throw input_error(source_.name,
                      (std::isnan(mono[i]) ? "NaN" : "infinity") + std::string(" at sample ") +
                          std::to_string(total_ + static_cast<int64_t>(i)),
                      "finite samples");
  }
  total_ += static_cast<int64_t>(mono.size());
  const AudioOptions& options = source_.options;
  if (total_ > options.max_samples || static_cast<double>(total_) / sample_rate_ > options.max_seconds) {
    throw input_error(source_.name,
                      "more than " + std::to_string(total_ - static_cast<int64_t>(mono.size())) + " samples at " +
                          std::to_string(sample_rate_) + " Hz",
                      "at most " + std::to_string(options.max_samples) + " samples and " +
                          std::to_string(static_cast<int64_t>(options.max_seconds)) + " seconds",
                      "split the audio");
  }
  next_.push(mono);
}

}  // namespace omniphi::audio

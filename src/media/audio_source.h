// What the readers of audio containers share: the file, its limits, and the sink that checks what passes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "media/audio_decode.h"

namespace omniphi::audio {

// A file in memory. Readers throw Errors that call it `name`.
struct AudioSource {
  std::string_view bytes;
  const std::string& name;
  const AudioOptions& options;
};

// A plain kInput error about a file.
inline Error input_error(const std::string& name, std::string found, std::string expected, std::string remedy = "") {
  return Error(ErrorKind::kInput, name, std::move(found), std::move(expected), std::move(remedy));
}

// A file that ends before what it declares.
inline Error truncated_error(const std::string& name, std::string found, std::string expected) {
  return input_error(name, "a truncated file: " + std::move(found), std::move(expected),
                     "copy or record the file again");
}

// Passes samples on after checking rate, channels, limits and that every sample is finite. Nothing is passed on for a
// source without samples; total() tells.
class CheckedSink : public SampleSink {
 public:
  CheckedSink(const AudioSource& source, SampleSink& next) : source_(source), next_(next) {}

  // Throws when the format differs from the first call's.
  void begin(int sample_rate, int channels) override;
  void push(std::span<const double> mono) override;

  int64_t total() const { return total_; }

 private:
  const AudioSource& source_;
  SampleSink& next_;
  int sample_rate_ = 0, channels_ = 0;
  int64_t total_ = 0;
};

}  // namespace omniphi::audio

// Bytes to features: whatever comes in is an Error of kind kInput or a finite result within the limits.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "models/phi4mm/processor/audio_processor.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  omniphi::phi4mm::AudioProcessorOptions options;
  options.decode.max_bytes = size_t{1} << 20;
  options.decode.max_samples = 1 << 18;
  options.reference_media = size % 2 == 1;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const auto input = omniphi::phi4mm::process_audio(bytes, "fuzz", options);
    if (input.num_samples > options.decode.max_samples) std::abort();
    if (input.num_tokens != omniphi::phi4mm::audio_token_count(input.num_samples, input.sample_rate, options))
      std::abort();
    for (const float value : input.features.data) {
      if (!std::isfinite(value)) std::abort();
    }
  } catch (const omniphi::Error& error) {
    if (error.kind() != omniphi::ErrorKind::kInput) std::abort();
  }
  return 0;
}

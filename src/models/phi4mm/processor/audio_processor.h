// Audio as Phi-4-multimodal takes it: log-mel features and the number of tokens.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "media/audio_decode.h"
#include "models/model_input.h"

namespace omniphi::phi4mm {

using omniphi::AudioInput;

struct AudioProcessorOptions {
  // Resample as the reference does (by the integer floor(rate / 16000), or floor(rate / 8000) below 16 kHz, whatever
  // remains of the ratio ignored) instead of by the exact ratio. For comparisons only: it shifts the pitch of 44.1,
  // 24, 22.05, 12 and 11.025 kHz.
  bool reference_media = false;
  AudioOptions decode;
};

// Features [frames, 80] and ceil(frames / 8) tokens of a file, decoded and processed in one stream; memory beyond the
// file itself is that of the features. 16 and 8 kHz go straight to the front end's two paths, every other rate from 8
// kHz up is resampled to 16 kHz. Throws Error{kInput} that names the file: see decode_audio; also a rate below 8 kHz,
// audio shorter than one window (25 ms), and samples so large that features overflow.
AudioInput process_audio(std::string_view bytes, const std::string& name, const AudioProcessorOptions& options = {});

// The same for samples that are decoded already (finite ones).
AudioInput process_audio(const AudioClip& clip, const std::string& name, const AudioProcessorOptions& options = {});

// Tokens of `samples` samples at `sample_rate`, without the samples; 0 when too short. Throws Error{kInput} for a rate
// that can't be processed.
int64_t audio_token_count(int64_t samples, int sample_rate, const AudioProcessorOptions& options = {});

// Tokens of a duration at 16 kHz: about 12.5 a second.
int64_t audio_token_count_for_seconds(double seconds);

// Tokens of `frames` feature frames: ceil(frames / 8).
inline int64_t audio_tokens_of_frames(int64_t frames) { return (frames + 7) / 8; }

}  // namespace omniphi::phi4mm

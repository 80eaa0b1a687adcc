// The log-mel front end of Phi-4-multimodal (README.md of the goldens, section 8).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tensor/tensor.h"

namespace omniphi {

inline constexpr int kMelChannels = 80;
inline constexpr int kMelBins = 257;  // magnitudes from 0 Hz to 8 kHz in steps of 31.25 Hz

// The two rates that the front end knows. 8 kHz has half the window, hop and FFT, and zeros for the bins from 4 kHz up.
enum class MelRate : uint8_t { k16kHz, k8kHz };

// Samples of a window: 400 or 200. Its hop is 160 or 80, so a frame is 10 ms at both rates.
int mel_window(MelRate rate);
int mel_hop(MelRate rate);

// floor((samples - window) / hop) + 1, or 0 when there is not one whole window; the tail is dropped.
int64_t mel_frames(int64_t samples, MelRate rate);

// Triangles in mel space (1127 ln(1 + f / 700)) over bins 1 to 245: [kMelChannels, kMelBins] float32.
const Tensor& mel_filters();

// Symmetric Hamming window, 0.54 - 0.46 cos(2 pi k / (size - 1)).
std::vector<double> hamming_window(int size);

// Streams samples to features: 80 float32 values a frame, log(max(power, 1)) per mel channel.
class LogMel {
 public:
  explicit LogMel(MelRate rate);
  ~LogMel();
  LogMel(LogMel&&) noexcept;
  LogMel& operator=(LogMel&&) noexcept;

  // Appends the frames that are complete now to `features`. Samples are rounded to float32 first, as the reference
  // does.
  void push(std::span<const double> samples, std::vector<float>& features);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Features [frames, 80] of a whole signal; [0, 80] when it is shorter than a window.
Tensor log_mel(std::span<const double> samples, MelRate rate);

}  // namespace omniphi

#include "media/log_mel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "media/fft.h"

namespace omniphi {
namespace {

constexpr float kPreEmphasis = 0.97f;
constexpr float kInt16Scale = 32768.0f;  // the publisher's features are those of 16-bit integers
constexpr int kFftOf16kHz = 512;
constexpr double kTopFrequency = 7690.0;
// The publisher's triangles leave out bin 0 and everything from bin 246 (7687.5 Hz) up.
constexpr int kFirstBin = 1;
constexpr int kLastBin = 245;

double mel_of(double hertz) { return 1127.0 * std::log(1.0 + hertz / 700.0); }

Tensor make_filters() {
  Tensor filters(Shape{kMelChannels, kMelBins});
  const double spacing = mel_of(kTopFrequency) / (kMelChannels + 1);
  for (int channel = 0; channel < kMelChannels; ++channel) {
    const double centre = spacing * (channel + 1);
    for (int bin = kFirstBin; bin <= kLastBin; ++bin) {
      const double distance = std::abs(centre - mel_of(bin * 16000.0 / kFftOf16kHz));
      if (distance < spacing) {
        filters.data[static_cast<size_t>(channel * kMelBins + bin)] = static_cast<float>(1.0 - distance / spacing);
      }
    }
  }
  return filters;
}

// The bins where a channel's triangle is not zero: [begin, end).
struct BinRange {
  int begin = 0, end = 0;
};

std::array<BinRange, kMelChannels> make_ranges(const Tensor& filters) {
  std::array<BinRange, kMelChannels> ranges;
  for (int channel = 0; channel < kMelChannels; ++channel) {
    BinRange& range = ranges[static_cast<size_t>(channel)];
    const float* row = filters.data.data() + channel * kMelBins;
    while (range.begin < kMelBins && row[range.begin] == 0) ++range.begin;
    range.end = kMelBins;
    while (range.end > range.begin && row[range.end - 1] == 0) --range.end;
  }
  return ranges;
}

const std::array<BinRange, kMelChannels>& filter_ranges() {
  static const std::array<BinRange, kMelChannels> ranges = make_ranges(mel_filters());
  return ranges;
}

}  // namespace

int mel_window(MelRate rate) { return rate == MelRate::k16kHz ? 400 : 200; }
int mel_hop(MelRate rate) { return rate == MelRate::k16kHz ? 160 : 80; }

int64_t mel_frames(int64_t samples, MelRate rate) {
  const int window = mel_window(rate);
  return samples < window ? 0 : (samples - window) / mel_hop(rate) + 1;
}

const Tensor& mel_filters() {
  static const Tensor filters = make_filters();
  return filters;
}

std::vector<double> hamming_window(int size) {
  std::vector<double> window(static_cast<size_t>(size));
  for (int k = 0; k < size; ++k) {
    window[static_cast<size_t>(k)] = 0.54 - 0.46 * std::cos(2 * std::numbers::pi * k / (size - 1));
  }
  return window;
}

struct LogMel::State {
  explicit State(MelRate rate)
      : window(hamming_window(mel_window(rate))),
        hop(static_cast<size_t>(mel_hop(rate))),
        fft(rate == MelRate::k16kHz ? kFftOf16kHz : kFftOf16kHz / 2) {}

  void frame(const float* x, std::vector<float>& features);

  std::vector<double> window;
  size_t hop;
  RealFft fft;
  std::vector<float> pending;              // samples from the next frame's first on
  std::array<float, kMelBins> power = {};  // from 4 kHz up zero at 8 kHz
};

// Rounds to float32 where the reference does: after the pre-emphasis, the complex spectrum, its magnitude, the power.
void LogMel::State::frame(const float* x, std::vector<float>& features) {
  const std::span<double> signal = fft.input();
  for (size_t k = 0; k < window.size(); ++k) {
    const float previous = k == 0 ? x[0] : x[k - 1];
    signal[k] = static_cast<double>((x[k] - kPreEmphasis * previous) * kInt16Scale) * window[k];
  }
  std::fill(signal.begin() + static_cast<ptrdiff_t>(window.size()), signal.end(), 0.0);
  const auto spectrum = fft.transform();
  // The Nyquist bin takes no part at either rate: no triangle reaches it at 16 kHz, the reference drops it at 8 kHz.
  for (size_t bin = 0; bin + 1 < spectrum.size(); ++bin) {
    const auto re = static_cast<float>(spectrum[bin].real()), im = static_cast<float>(spectrum[bin].imag());
    const auto magnitude = static_cast<float>(std::sqrt(static_cast<double>(re) * re + static_cast<double>(im) * im));
    power[bin] = magnitude * magnitude;
  }
  const auto& ranges = filter_ranges();
  for (int channel = 0; channel < kMelChannels; ++channel) {
    const float* weights = mel_filters().data.data() + channel * kMelBins;
    const BinRange range = ranges[static_cast<size_t>(channel)];
    double sum = 0;
    for (int bin = range.begin; bin < range.end; ++bin) {
      sum += static_cast<double>(power[static_cast<size_t>(bin)]) * weights[bin];
    }
    features.push_back(std::log(std::max(static_cast<float>(sum), 1.0f)));
  }
}

LogMel::LogMel(MelRate rate) : state_(std::make_unique<State>(rate)) {}
LogMel::~LogMel() = default;
LogMel::LogMel(LogMel&&) noexcept = default;
LogMel& LogMel::operator=(LogMel&&) noexcept = default;

void LogMel::push(std::span<const double> samples, std::vector<float>& features) {
  constexpr size_t kBlock = 1 << 16;  // keeps what is pending small whatever is pushed
  std::vector<float>& pending = state_->pending;
  while (!samples.empty()) {
    const auto block = samples.first(std::min(samples.size(), kBlock));
    samples = samples.subspan(block.size());
    for (const double sample : block) pending.push_back(static_cast<float>(sample));
    size_t start = 0;
    for (; start + state_->window.size() <= pending.size(); start += state_->hop) {
      state_->frame(pending.data() + start, features);
    }
    pending.erase(pending.begin(), pending.begin() + static_cast<ptrdiff_t>(std::min(start, pending.size())));
  }
}

Tensor log_mel(std::span<const double> samples, MelRate rate) {
  Tensor features;
  features.data.reserve(static_cast<size_t>(mel_frames(static_cast<int64_t>(samples.size()), rate) * kMelChannels));
  LogMel front_end(rate);
  front_end.push(samples, features.data);
  features.shape = Shape{static_cast<int64_t>(features.data.size()) / kMelChannels, kMelChannels};
  return features;
}

}  // namespace omniphi

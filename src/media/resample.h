// Rational resampling, as scipy.signal.resample_poly defines it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace omniphi {

// Streams samples through the filter of scipy.signal.resample_poly(x, up, down) with its defaults: with up and down
// divided by their gcd and m = max(up, down), a windowed sinc of 20 m + 1 taps with cutoff 1/m, Kaiser window of beta
// 5, gain 1 at frequency 0, times up; zeros before and after the signal; ceil(n up / down) output samples for n inputs.
// Output j is sum_k h[j down + 10 m - k up] x[k]. All in double. up == down copies.
class Resampler {
 public:
  // up, down >= 1; max(up, down) after reduction at most kMaxRatio (memory: 160 bytes times it).
  Resampler(int64_t up, int64_t down);
  static constexpr int64_t kMaxRatio = 1'000'000;

  // Appends to `out` every output that the input so far determines.
  void push(std::span<const double> input, std::vector<double>& out);
  // Appends the rest: the signal ends here. Nothing may be pushed afterwards.
  void finish(std::vector<double>& out);

  // ceil(samples * up / down)
  static int64_t output_size(int64_t samples, int64_t up, int64_t down);

 private:
  void make_rows();
  void produce(int64_t end, std::vector<double>& out);

  int64_t up_, down_, half_len_;
  int64_t taps_ = 0;            // a row's length
  std::vector<double> rows_;    // [up, taps]: phase p holds h[p + i up] with i descending
  std::vector<double> buffer_;  // input from position buffer_begin_ on, zeros before position 0
  int64_t buffer_begin_ = 0;    // may be negative
  int64_t received_ = 0;        // inputs pushed
  int64_t produced_ = 0;        // outputs appended
};

// The whole signal at once.
std::vector<double> resample_poly(std::span<const double> input, int64_t up, int64_t down);

}  // namespace omniphi

#include "media/resample.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/error.h"

namespace omniphi {
namespace {

constexpr double kKaiserBeta = 5.0;
constexpr int64_t kHalfLengthFactor = 10;
constexpr size_t kBlock = 1 << 16;  // inputs buffered at a time

// Modified Bessel function of order 0 by its power series; exact to double precision for the arguments up to 5 here.
double bessel_i0(double x) {
  const double quarter = x * x / 4;
  double term = 1, sum = 1;
  for (int k = 1; term > sum * 1e-18; ++k) {
    term *= quarter / (static_cast<double>(k) * k);
    sum += term;
  }
  return sum;
}

// Tap `n` of 0..2*half of the windowed sinc with cutoff 1/rate (of the Nyquist frequency), not yet normalised.
double windowed_sinc(int64_t n, int64_t half, int64_t rate) {
  const double t = static_cast<double>(n - half);
  const double cutoff = 1.0 / static_cast<double>(rate);
  const double phase = std::numbers::pi * cutoff * t;
  const double sinc = t == 0 ? 1.0 : std::sin(phase) / phase;
  const double r = t / static_cast<double>(half);
  return cutoff * sinc * bessel_i0(kKaiserBeta * std::sqrt(std::max(0.0, 1 - r * r))) / bessel_i0(kKaiserBeta);
}

// Four accumulators: the compiler may keep them in one vector register, and their order is fixed.
double dot(const double* a, const double* b, int64_t count) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    s0 += a[i] * b[i];
    s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2];
    s3 += a[i + 3] * b[i + 3];
  }
  for (; i < count; ++i) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}

}  // namespace

Resampler::Resampler(int64_t up, int64_t down) {
  if (up < 1 || down < 1) internal_error("Resampler", std::to_string(up) + "/" + std::to_string(down));
  const int64_t divisor = std::gcd(up, down);
  up_ = up / divisor;
  down_ = down / divisor;
  if (std::max(up_, down_) > kMaxRatio) internal_error("Resampler", std::to_string(up_) + "/" + std::to_string(down_));
  if (up_ == down_) return;
  half_len_ = kHalfLengthFactor * std::max(up_, down_);
  make_rows();
  buffer_begin_ = -taps_;
  buffer_.assign(static_cast<size_t>(taps_), 0.0);
}

void Resampler::make_rows() {
  const int64_t length = 2 * half_len_ + 1;
  taps_ = (length + up_ - 1) / up_;
  rows_.assign(static_cast<size_t>(up_ * taps_), 0.0);
  double sum = 0;
  for (int64_t n = 0; n < length; ++n) {
    const double tap = windowed_sinc(n, half_len_, std::max(up_, down_));
    sum += tap;
    rows_[static_cast<size_t>((n % up_) * taps_ + (taps_ - 1 - n / up_))] = tap;
  }
  const double gain = static_cast<double>(up_) / sum;
  for (double& tap : rows_) tap *= gain;
}

int64_t Resampler::output_size(int64_t samples, int64_t up, int64_t down) {
  const int64_t divisor = std::gcd(up, down);
  up /= divisor;
  down /= divisor;
  // Whole periods first, so that the product can't overflow for any length that fits memory.
  const int64_t periods = samples / down, rest = samples % down;
  return periods * up + (rest * up + down - 1) / down;
}

// Outputs whose last input is before position `end`.
void Resampler::produce(int64_t end, std::vector<double>& out) {
  while (true) {
    const int64_t position = produced_ * down_ + half_len_;
    const int64_t last = position / up_;
    if (last >= end) return;
    const int64_t phase = position % up_;
    const double* x = buffer_.data() + (last - (taps_ - 1) - buffer_begin_);
    out.push_back(dot(rows_.data() + phase * taps_, x, taps_));
    ++produced_;
  }
}

void Resampler::push(std::span<const double> input, std::vector<double>& out) {
  if (up_ == down_) {
    out.insert(out.end(), input.begin(), input.end());
    return;
  }
  while (!input.empty()) {
    const auto block = input.first(std::min(input.size(), kBlock));
    input = input.subspan(block.size());
    buffer_.insert(buffer_.end(), block.begin(), block.end());
    received_ += static_cast<int64_t>(block.size());
    produce(received_, out);
    const int64_t next_first = (produced_ * down_ + half_len_) / up_ - (taps_ - 1);
    const int64_t drop = std::clamp<int64_t>(next_first - buffer_begin_, 0, static_cast<int64_t>(buffer_.size()));
    buffer_.erase(buffer_.begin(), buffer_.begin() + drop);
    buffer_begin_ += drop;
  }
}

void Resampler::finish(std::vector<double>& out) {
  if (up_ == down_ || received_ == 0) return;
  const int64_t total = output_size(received_, up_, down_);
  if (produced_ >= total) return;
  const int64_t end = ((total - 1) * down_ + half_len_) / up_ + 1;
  buffer_.resize(static_cast<size_t>(std::max(end, received_) - buffer_begin_), 0.0);
  const size_t wanted = out.size() + static_cast<size_t>(total - produced_);
  produce(end, out);
  out.resize(wanted);
}

std::vector<double> resample_poly(std::span<const double> input, int64_t up, int64_t down) {
  Resampler resampler(up, down);
  std::vector<double> out;
  out.reserve(static_cast<size_t>(Resampler::output_size(static_cast<int64_t>(input.size()), up, down)));
  resampler.push(input, out);
  resampler.finish(out);
  return out;
}

}  // namespace omniphi

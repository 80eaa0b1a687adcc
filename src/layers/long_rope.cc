#include "layers/long_rope.h"

#include <cmath>

namespace omniphi {
namespace {

// 1 / (factor * theta^(2i / rotary_dim)), every operation rounded to float32 as in the reference: at position 131,071
// an angle keeps no more than two digits behind the point, so the roundings show.
std::vector<float> inverse_frequencies(int rotary_dim, double theta, const std::vector<double>& factors) {
  std::vector<float> frequencies(static_cast<size_t>(rotary_dim / 2));
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float exponent = static_cast<float>(2 * i) / static_cast<float>(rotary_dim);
    const float power = static_cast<float>(std::pow(theta, static_cast<double>(exponent)));
    frequencies[i] = 1.0f / (static_cast<float>(factors[i]) * power);
  }
  return frequencies;
}

}  // namespace

LongRope::LongRope(int rotary_dim, double theta, int original_max_position, int max_position,
                   const std::vector<double>& short_factor, const std::vector<double>& long_factor)
    : rotary_dim_(rotary_dim),
      original_max_position_(original_max_position),
      short_inv_freq_(inverse_frequencies(rotary_dim, theta, short_factor)),
      long_inv_freq_(inverse_frequencies(rotary_dim, theta, long_factor)) {
  if (max_position > original_max_position) {
    const double original = original_max_position;
    attention_factor_ = static_cast<float>(std::sqrt(1 + std::log(max_position / original) / std::log(original)));
  }
}

void LongRope::angles(RopeRegime regime, int64_t position, float* cos, float* sin) const {
  const std::span<const float> frequencies = inv_freq(regime);
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const float angle = static_cast<float>(position) * frequencies[i];
    cos[i] = static_cast<float>(std::cos(static_cast<double>(angle))) * attention_factor_;
    sin[i] = static_cast<float>(std::sin(static_cast<double>(angle))) * attention_factor_;
  }
}

}  // namespace omniphi

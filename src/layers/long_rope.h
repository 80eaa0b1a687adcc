// Rotary angles with LongRoPE's two sets of factors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace omniphi {

// Which factors a sequence uses: short while it is at most `original_max_position_embeddings` tokens long, long for all
// its positions otherwise. A log-prob belongs to the regime of the length it was computed at.
enum class RopeRegime : uint8_t { kShort, kLong };

// Ding et al., "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens", 2024, as Phi-4-multimodal applies it:
// a frequency is divided by its factor, and cos and sin are multiplied by sqrt(1 + ln(max / original) / ln(original))
// in both regimes.
class LongRope {
 public:
  LongRope() = default;
  // short_factor and long_factor [rotary_dim / 2].
  LongRope(int rotary_dim, double theta, int original_max_position, int max_position,
           const std::vector<double>& short_factor, const std::vector<double>& long_factor);

  // The regime of a sequence of `length` tokens in all.
  RopeRegime regime(int64_t length) const {
    return length > original_max_position_ ? RopeRegime::kLong : RopeRegime::kShort;
  }
  int64_t original_max_position() const { return original_max_position_; }
  int rotary_dim() const { return rotary_dim_; }
  float attention_factor() const { return attention_factor_; }
  std::span<const float> inv_freq(RopeRegime regime) const {
    return regime == RopeRegime::kLong ? long_inv_freq_ : short_inv_freq_;
  }

  // cos and sin [rotary_dim / 2] of one position. The angle is a float32 product, as in the reference.
  void angles(RopeRegime regime, int64_t position, float* cos, float* sin) const;

 private:
  int rotary_dim_ = 0;
  int64_t original_max_position_ = 0;
  float attention_factor_ = 1;
  std::vector<float> short_inv_freq_, long_inv_freq_;  // [rotary_dim / 2]
};

}  // namespace omniphi

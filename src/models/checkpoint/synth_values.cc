#include "models/checkpoint/synth_values.h"

#include <cmath>
#include <cstring>
#include <string_view>

namespace omniphi {
namespace {

// The finaliser of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014): a
// bijection of 64 bits, here of a counter. Philox would cost several times as much over five billion values.
uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Mean 0, deviation about 147.8: the sum of the four bytes of a word, less its mean.
float byte_sum(uint32_t word) {
  const uint32_t pairs = (word & 0x00ff00ffu) + ((word >> 8) & 0x00ff00ffu);
  return static_cast<float>(static_cast<int>((pairs & 0xffffu) + (pairs >> 16)) - 510);
}

constexpr float kByteSumDeviation = 147.801f;  // sqrt(4 * (256^2 - 1) / 12)

template <typename Value, typename Convert>
void fill_as(uint64_t key, Scatter scatter, int64_t first, std::span<std::byte> out, Convert convert) {
  const float scale = scatter.deviation / kByteSumDeviation;
  const size_t count = out.size() / sizeof(Value);
  uint64_t counter = static_cast<uint64_t>(first) / 2;
  for (size_t i = 0; i < count; i += 2, ++counter) {
    const uint64_t word = mix(key + (counter + 1) * 0x9e3779b97f4a7c15u);
    const Value pair[2] = {convert(scatter.mean + scale * byte_sum(static_cast<uint32_t>(word))),
                           convert(scatter.mean + scale * byte_sum(static_cast<uint32_t>(word >> 32)))};
    std::memcpy(out.data() + i * sizeof(Value), pair, (i + 1 < count ? 2 : 1) * sizeof(Value));
  }
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

Scatter scatter_of(const ExpectedTensor& tensor) {
  const std::string_view name = tensor.name;
  const Shape& shape = tensor.shape;
  if (name.ends_with("global_mean")) return {9.0f, 1.5f};
  if (name.ends_with("global_invstd")) return {0.33f, 0.03f};
  if (name.ends_with("_GN") || name.ends_with("probe")) return {0.0f, 0.5f};
  if (contains(name, "bias_values") || contains(name, "position_embedding")) return {0.0f, 0.3f};
  if (name.ends_with("class_embedding")) return {0.0f, 0.3f};
  if (name.ends_with("bias") || name.ends_with("glu.b1") || name.ends_with("glu.b2")) return {0.0f, 0.02f};
  if (shape.rank() == 1) return {1.0f, 0.1f};  // what is left of rank 1 are the weights of norms
  if (contains(name, "embed_tokens.weight")) return {0.0f, 0.02f};
  const auto inputs = static_cast<float>(shape.count() / shape[0]);
  // LoRA adds a tenth of what goes through the base matrix or so, whatever the rank and scale.
  return {0.0f, (contains(name, "lora_B") ? 0.1f : 1.0f) / std::sqrt(inputs)};
}

uint64_t value_key(uint64_t seed, const ExpectedTensor& tensor) {
  uint64_t hash = mix(seed ^ 0x6f6d6e69706869u);
  for (const char c : tensor.name) hash = mix(hash ^ static_cast<unsigned char>(c));
  return hash;
}

void fill_values(uint64_t key, Scatter scatter, int64_t first, DType dtype, std::span<std::byte> out) {
  if (dtype == DType::kF32) {
    fill_as<float>(key, scatter, first, out, [](float value) { return value; });
  } else if (dtype == DType::kF16) {
    fill_as<uint16_t>(key, scatter, first, out, f32_to_f16);
  } else {
    fill_as<uint16_t>(key, scatter, first, out, f32_to_bf16);
  }
}

}  // namespace omniphi

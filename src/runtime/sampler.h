// From a row of logits to the next token.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace omniphi {

struct SamplingOptions {
  float temperature = 0;  // 0: greedy, the first of the largest
  int top_k = 0;          // 0: off
  float top_p = 1;        // 1: off
  float min_p = 0;        // 0: off; relative to the most likely token's probability
  float repetition_penalty =
      1;  // > 1: logits of tokens in prompt and answer are divided (if positive) or multiplied by it
  float presence_penalty = 0;                         // taken off once from logits of tokens in the answer
  float frequency_penalty = 0;                        // taken off per occurrence in the answer
  std::vector<std::pair<int32_t, float>> logit_bias;  // added before everything else
  uint64_t seed = 0;
  uint32_t sample = 0;  // which of several answers to one prompt

  // Throws kInput naming the first option that is out of range; ids of logit_bias must be below `vocab_size`.
  void check(int vocab_size) const;
};

// Keeps what the penalties need to know about one sequence. Draws come from a counter-based generator keyed by (seed,
// sample, token index), so an answer does not depend on what else is in the batch.
class Sampler {
 public:
  Sampler(const SamplingOptions& options, int vocab_size, std::span<const int32_t> prompt);

  // The token for answer position `index`, from logits [vocab_size], which stay as they are. Order: bias, penalties,
  // temperature, top-k, top-p, min-p, draw.
  int32_t sample(std::span<const float> logits, int64_t index);

  // Tells the sampler that `id` was appended.
  void accept(int32_t id);

 private:
  void apply_penalties();

  SamplingOptions options_;
  std::unordered_map<int32_t, int> answer_counts_;  // occurrences in the answer
  std::unordered_map<int32_t, bool> seen_;          // in prompt or answer
  std::vector<float> scores_;                       // [vocab_size]
  std::vector<int32_t> candidates_;
};

}  // namespace omniphi

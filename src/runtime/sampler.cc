#include "runtime/sampler.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"
#include "base/rng.h"

namespace omniphi {
namespace {

void check_range(bool ok, const char* name, double found, const char* expected) {
  if (!ok) throw Error(ErrorKind::kInput, name, std::to_string(found), expected);
}

// Larger first; equal scores in order of id, so that a cut never depends on the sorting algorithm.
struct ByScore {
  const std::vector<float>& scores;
  bool operator()(int32_t a, int32_t b) const {
    const float x = scores[static_cast<size_t>(a)], y = scores[static_cast<size_t>(b)];
    return x != y ? x > y : a < b;
  }
};

}  // namespace

void SamplingOptions::check(int vocab_size) const {
  check_range(std::isfinite(temperature) && temperature >= 0, "temperature", temperature, "0 or more");
  check_range(top_k >= 0, "top_k", top_k, "0 (off) or more");
  check_range(top_p > 0 && top_p <= 1, "top_p", top_p, "more than 0, at most 1");
  check_range(min_p >= 0 && min_p <= 1, "min_p", min_p, "from 0 to 1");
  check_range(std::isfinite(repetition_penalty) && repetition_penalty > 0, "repetition_penalty", repetition_penalty,
              "more than 0");
  check_range(std::abs(presence_penalty) <= 2, "presence_penalty", presence_penalty, "from -2 to 2");
  check_range(std::abs(frequency_penalty) <= 2, "frequency_penalty", frequency_penalty, "from -2 to 2");
  for (const auto& [id, bias] : logit_bias) {
    check_range(id >= 0 && id < vocab_size, "logit_bias id", id, "an id of the vocabulary");
    check_range(!std::isnan(bias) && bias < 1e6f, "logit_bias", bias, "a number (-inf forbids the token)");
  }
}

Sampler::Sampler(const SamplingOptions& options, int vocab_size, std::span<const int32_t> prompt) : options_(options) {
  scores_.resize(static_cast<size_t>(vocab_size));
  if (options_.repetition_penalty != 1) {
    for (const int32_t id : prompt) {
      if (id >= 0) seen_[id] = true;  // slots of media may have negative ids
    }
  }
}

void Sampler::accept(int32_t id) {
  if (options_.repetition_penalty != 1) seen_[id] = true;
  if (options_.presence_penalty != 0 || options_.frequency_penalty != 0) ++answer_counts_[id];
}

void Sampler::apply_penalties() {
  for (const auto& [id, bias] : options_.logit_bias) scores_[static_cast<size_t>(id)] += bias;
  for (const auto& [id, unused] : seen_) {
    float& score = scores_[static_cast<size_t>(id)];
    score = score > 0 ? score / options_.repetition_penalty : score * options_.repetition_penalty;
  }
  for (const auto& [id, count] : answer_counts_) {
    scores_[static_cast<size_t>(id)] -=
        options_.presence_penalty + options_.frequency_penalty * static_cast<float>(count);
  }
}

int32_t Sampler::sample(std::span<const float> logits, int64_t index) {
  std::copy(logits.begin(), logits.end(), scores_.begin());
  apply_penalties();
  if (options_.temperature == 0) {
    return static_cast<int32_t>(std::max_element(scores_.begin(), scores_.end()) - scores_.begin());
  }

  // The candidates that top-k leaves, or all of them.
  const size_t vocab = scores_.size();
  candidates_.resize(vocab);
  for (size_t i = 0; i < vocab; ++i) candidates_[i] = static_cast<int32_t>(i);
  const ByScore order{scores_};
  const bool cut_k = options_.top_k > 0 && static_cast<size_t>(options_.top_k) < vocab;
  if (cut_k) {
    const auto end = candidates_.begin() + options_.top_k;
    std::nth_element(candidates_.begin(), end, candidates_.end(), order);
    candidates_.resize(static_cast<size_t>(options_.top_k));
  }
  const bool cut_p = options_.top_p < 1 || options_.min_p > 0;
  if (cut_k || cut_p) std::sort(candidates_.begin(), candidates_.end(), order);

  // Probabilities relative to the best candidate; the sum in double, in the order of the candidates.
  float best = -INFINITY;
  for (const int32_t id : candidates_) best = std::max(best, scores_[static_cast<size_t>(id)]);
  double total = 0;
  for (const int32_t id : candidates_) {
    float& score = scores_[static_cast<size_t>(id)];
    score = std::exp((score - best) / options_.temperature);
    total += score;
  }
  // Nucleus: the smallest set of best candidates with at least top_p of the probability; then those with at least min_p
  // of the best.
  if (cut_p) {
    double kept = 0;
    size_t count = 0;
    while (count < candidates_.size() && (count == 0 || kept < options_.top_p * total)) {
      const double weight = scores_[static_cast<size_t>(candidates_[count])];
      if (count > 0 && weight < options_.min_p) break;
      kept += weight;
      ++count;
    }
    candidates_.resize(count);
    total = kept;
  }

  const auto words = philox(options_.seed, options_.sample, static_cast<uint64_t>(index));
  double target = uniform_from(words) * total;
  for (const int32_t id : candidates_) {
    target -= scores_[static_cast<size_t>(id)];
    if (target < 0) return id;
  }
  // Rounding may leave a trace of the target: the last candidate with any weight takes it.
  for (size_t i = candidates_.size(); i-- > 0;) {
    if (scores_[static_cast<size_t>(candidates_[i])] > 0) return candidates_[i];
  }
  return candidates_.front();
}

}  // namespace omniphi

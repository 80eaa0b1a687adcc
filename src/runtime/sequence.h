// One request while it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "models/causal_model.h"
#include "runtime/engine.h"
#include "runtime/kv_cache.h"
#include "runtime/sampler.h"
#include "text/stream_decoder.h"

namespace omniphi {

class RunningSequence {
 public:
  RunningSequence(const CausalModel& model, const Tokenizer& tokenizer, KvPool& pool, const ModelInput& input,
                  const GenerationOptions& options);

  // Takes the token that was drawn from `logits` [vocab], whose log(sum(exp)) is given. Returns the text that became
  // complete; done() tells whether it was the last one.
  std::string accept(std::span<const float> logits, float log_sum_exp);

  // Ends the answer where it is.
  void cancel();

  bool done() const { return done_; }

  const ModelInput& input;
  std::vector<int32_t> ids;   // prompt, then answer
  std::vector<Tensor> media;  // embeddings, one a slot; kept because a crossing of LongRoPE's switch needs them again
  KvSequence kv;
  RopeRegime regime = RopeRegime::kShort;
  Generation result;

 private:
  void finish(FinishReason reason);

  GenerationOptions options_;
  std::vector<int32_t> stop_ids_;
  int64_t max_tokens_ = 0;
  Sampler sampler_;
  StreamDecoder stream_;
  bool done_ = false;
};

// Throws kInput when `ids` are more than the model's context.
void check_fits_context(const CausalModel& model, const std::vector<int32_t>& ids);

}  // namespace omniphi

#include "runtime/sequence.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace omniphi {

void check_fits_context(const CausalModel& model, const std::vector<int32_t>& ids) {
  if (static_cast<int64_t>(ids.size()) <= model.context_length()) return;
  throw Error(ErrorKind::kInput, "prompt", std::to_string(ids.size()) + " tokens",
              "at most " + std::to_string(model.context_length()) + ", the model's context",
              "Shorten the text, or take fewer crops (--max-image-crops) or less audio.");
}

RunningSequence::RunningSequence(const CausalModel& model, const Tokenizer& tokenizer, KvPool& pool,
                                 const ModelInput& model_input, const GenerationOptions& options)
    : input(model_input),
      ids(model_input.ids),
      kv(pool),
      options_(options),
      stop_ids_(options.stop_token_ids),
      sampler_(options.sampling, model.config().decoder.vocab_size, model_input.ids),
      stream_(tokenizer, StreamDecoderOptions{.show_special = false, .stop = options.stop_strings}) {
  options.sampling.check(model.config().decoder.vocab_size);
  check_fits_context(model, ids);
  if (!options.ignore_eos) {
    const auto& eos = model.config().eos_token_ids;
    stop_ids_.insert(stop_ids_.end(), eos.begin(), eos.end());
  }
  // The context limits what the model processes: the last token of an answer is drawn, yet never fed back.
  max_tokens_ = model.context_length() - static_cast<int64_t>(ids.size()) + 1;
  if (options.max_tokens >= 0) max_tokens_ = std::min(max_tokens_, options.max_tokens);
  if (max_tokens_ == 0) finish(FinishReason::kLength);
  // Room for an ordinary answer, so that taking a token allocates nothing.
  const auto room = static_cast<size_t>(std::min<int64_t>(max_tokens_, 8192));
  ids.reserve(ids.size() + room);
  result.token_ids.reserve(room);
  result.logprobs.reserve(room);
}

void RunningSequence::finish(FinishReason reason) {
  done_ = true;
  result.finish_reason = reason;
  kv.clear();
}

void RunningSequence::cancel() {
  if (done_) return;
  result.text += stream_.flush();
  finish(FinishReason::kCancelled);
}

std::string RunningSequence::accept(std::span<const float> logits, float log_sum_exp) {
  if (!std::isfinite(log_sum_exp)) {
    throw Error(ErrorKind::kInternal, "logits of token " + std::to_string(ids.size()), "not finite", "finite numbers",
                "Check the checkpoint with `omniphi inspect` and `omniphi verify`.");
  }
  const int32_t id = sampler_.sample(logits, static_cast<int64_t>(result.token_ids.size()));
  sampler_.accept(id);
  ids.push_back(id);
  result.token_ids.push_back(id);
  result.logprobs.push_back(logits[static_cast<size_t>(id)] - log_sum_exp);

  std::string text;
  const bool stop_id = std::find(stop_ids_.begin(), stop_ids_.end(), id) != stop_ids_.end();
  if (!stop_id) text = stream_.push(id);
  if (stop_id || stream_.stopped()) {
    finish(FinishReason::kStop);
  } else if (static_cast<int64_t>(result.token_ids.size()) >= max_tokens_) {
    finish(FinishReason::kLength);
  }
  if (done_) text += stream_.flush();
  result.text += text;
  return text;
}

}  // namespace omniphi

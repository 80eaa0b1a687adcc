// Runs requests: prefill in chunks, decode, re-prefill when LongRoPE changes its factors.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "models/causal_model.h"
#include "models/trace.h"
#include "runtime/sampler.h"
#include "text/tokenizer.h"

namespace omniphi {

// Told as long work goes on: "encode" counts media, "prefill" counts prompt tokens.
using ProgressCallback = std::function<void(const char* phase, int64_t done, int64_t total)>;

struct EngineOptions {
  int threads = 0;               // 0: all cores
  int64_t prefill_chunk = 512;   // rows of one step at most
  DType kv_dtype = DType::kF32;  // kF32 or kBF16
  int kv_block_tokens = 64;      // power of two, 16 to 256
  ProgressCallback progress;
};

struct GenerationOptions {
  int64_t max_tokens = -1;  // -1: until the context is full; more than that is cut down to it
  SamplingOptions sampling;
  std::vector<std::string> stop_strings;
  std::vector<int32_t> stop_token_ids;  // besides the checkpoint's own
  bool ignore_eos = false;              // the checkpoint's own stop ids don't stop
};

enum class FinishReason : uint8_t { kStop, kLength, kCancelled };

// "stop", "length", "cancelled".
const char* finish_reason_name(FinishReason reason);

struct Timings {
  double encode_seconds = 0;   // images and audio
  double prefill_seconds = 0;  // prompt, re-prefills included
  double decode_seconds = 0;
};

struct Generation {
  std::string text;                // without the stop id and the stop string
  std::vector<int32_t> token_ids;  // generated, a stop id included
  std::vector<float> logprobs;     // of each token, before temperature, penalties and masks
  FinishReason finish_reason = FinishReason::kStop;
  Timings timings;
};

// What a caller is told as an answer grows. `text` is what became complete, in whole UTF-8; it may be empty.
struct GenerationEvent {
  int32_t token_id = 0;
  float logprob = 0;
  const std::string& text;
};

// Returns false to stop the answer (finish reason kCancelled).
using GenerationCallback = std::function<bool(const GenerationEvent&)>;

struct ScoreOptions {
  // < 0: the reference's single forward over the whole list. Otherwise every token from this index on gets the log-prob
  // that it had when it was sampled after a prompt of that many tokens (docs/numerics.md: LongRoPE's regimes), and the
  // prompt's tokens get those of the prompt's own prefill.
  int64_t as_generated_prompt_tokens = -1;
  // Receives every stage of the single forward, "logprobs" and "last_logits" included.
  Trace* trace = nullptr;
};

class Engine {
 public:
  // The model and the tokenizer must outlive the engine. Throws kUsage on options out of range.
  Engine(const CausalModel& model, const Tokenizer& tokenizer, const EngineOptions& options);
  ~Engine();

  // One answer. Throws kInput when the prompt does not fit the context, and kInternal when the model gives non-finite
  // logits.
  Generation generate(const ModelInput& input, const GenerationOptions& options,
                      const GenerationCallback& callback = {});

  // Several answers at once in ragged batches: each is bitwise what generate() gives alone. One of `options` for each
  // input.
  std::vector<Generation> generate_batch(std::span<const ModelInput* const> inputs,
                                         std::span<const GenerationOptions> options);

  // log p(ids[t] | ids before t) for t >= 1. Entry 0 is NaN (there is none), and so are those of tokens with negative
  // ids, which no vocabulary holds: the slots of a family that numbers its pictures so.
  std::vector<float> score(const ModelInput& input, const ScoreOptions& options = {});

  int threads() const;
  Isa isa() const;
  // Bytes of KV cache that were allocated at the peak.
  size_t kv_bytes() const;
  // KV blocks that sequences hold at this moment: 0 between calls.
  size_t kv_blocks_in_use() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace omniphi

#include "runtime/engine.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "base/error.h"
#include "base/memory.h"
#include "base/thread_pool.h"
#include "runtime/kv_cache.h"
#include "runtime/sequence.h"

namespace omniphi {
namespace {

// Rows of logits that exist at a time: [64, vocab] is 51 MB for the released model.
constexpr int64_t kHeadTile = 64;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check_options(const EngineOptions& options) {
  const auto refuse = [](const char* name, int64_t found, const char* expected) {
    throw Error(ErrorKind::kUsage, name, std::to_string(found), expected);
  };
  if (options.threads < 0 || options.threads > 1024) refuse("threads", options.threads, "0 (all cores) to 1024");
  if (options.prefill_chunk < 1) refuse("prefill chunk", options.prefill_chunk, "1 or more");
  const int block = options.kv_block_tokens;
  if (block < 16 || block > 256 || (block & (block - 1)) != 0) refuse("KV block", block, "16, 32, 64, 128 or 256");
  if (options.kv_dtype != DType::kF32 && options.kv_dtype != DType::kBF16) {
    throw Error(ErrorKind::kUsage, "KV dtype", dtype_name(options.kv_dtype), "fp32 or bf16");
  }
}

KvCacheShape kv_shape(const CausalModel& model, const EngineOptions& options) {
  const DecoderShape& shape = model.decoder().shape;
  KvCacheShape kv;
  kv.layers = static_cast<int>(model.decoder().blocks.size());
  kv.kv_heads = shape.kv_heads;
  kv.head_dim = shape.head_dim;
  kv.dtype = options.kv_dtype;
  kv.block_tokens = options.kv_block_tokens;
  return kv;
}

// A prompt whose keys and values can't be held would end in the hands of the kernel's killer. Throws kInput.
void check_fits_memory(const KvPool& pool, size_t tokens) {
  const int64_t available = available_memory();
  const size_t needed = tokens * pool.shape().token_bytes();
  const size_t spare = pool.allocated_bytes() - pool.blocks_in_use() * pool.shape().block_bytes();
  if (available == 0 || needed <= static_cast<size_t>(available) + spare) return;
  const auto mebibytes = [](size_t bytes) { return std::to_string(bytes >> 20) + " MiB"; };
  throw Error(ErrorKind::kInput, "KV cache", mebibytes(needed) + " for " + std::to_string(tokens) + " tokens",
              "at most " + mebibytes(static_cast<size_t>(available) + spare) + ", what this machine can still give",
              "Take a bf16 cache (--kv-dtype bf16) or a shorter prompt.");
}

}  // namespace

const char* finish_reason_name(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return "stop";
    case FinishReason::kLength:
      return "length";
    case FinishReason::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

class Engine::Impl {
 public:
  Impl(const CausalModel& model, const Tokenizer& tokenizer, const EngineOptions& options)
      : model_(model),
        tokenizer_(tokenizer),
        options_(options),
        pool_(options.threads),
        kv_pool_(kv_shape(model, options)) {
    ctx_.kernels = &kernel_table(choose_isa());
    ctx_.pool = &pool_;
    ctx_.workspace = &workspace_;
  }

  std::vector<Generation> generate(std::span<const ModelInput* const> inputs,
                                   std::span<const GenerationOptions> options, const GenerationCallback& callback);
  std::vector<float> score(const ModelInput& input, const ScoreOptions& options);

  const KernelContext& ctx() const { return ctx_; }
  const KvPool& kv_pool() const { return kv_pool_; }

 private:
  void encode_media(const ModelInput& input, Trace* trace, std::vector<Tensor>* media);
  bool step(std::span<const std::unique_ptr<RunningSequence>> running, const GenerationCallback& callback);
  void choose_regime(RunningSequence& sequence) const;
  void sample_rows(std::span<RunningSequence* const> ready, const float* hidden, const GenerationCallback& callback);
  void report(const char* phase, int64_t done, int64_t total) const {
    if (options_.progress) options_.progress(phase, done, total);
  }

  struct ScorePass {
    RopeRegime regime = RopeRegime::kShort;
    int64_t rows = 0;   // tokens that run
    int64_t first = 0;  // log-probs of tokens from this index on are kept
    Trace* trace = nullptr;
  };
  void run_score_pass(const ModelInput& input, std::span<const Tensor> media, const ScorePass& pass,
                      std::vector<float>* logprobs);
  void score_rows(const ModelInput& input, const ScorePass& pass, int64_t first_row, int64_t rows, const float* hidden,
                  std::vector<float>* logprobs);

  const CausalModel& model_;
  const Tokenizer& tokenizer_;
  EngineOptions options_;
  ThreadPool pool_;
  Workspace workspace_;
  KvPool kv_pool_;
  KernelContext ctx_;
  Batch batch_;                           // kept from step to step, so that a step allocates nothing
  std::vector<RunningSequence*> active_;  // the sequences of batch_, in order
  std::vector<RunningSequence*> ready_;   // those whose next token can be drawn
};

void Engine::Impl::encode_media(const ModelInput& input, Trace* trace, std::vector<Tensor>* media) {
  const auto total = static_cast<int64_t>(input.slots.size());
  for (const MediaSlot& slot : input.slots) {
    report("encode", static_cast<int64_t>(media->size()), total);
    const auto index = static_cast<size_t>(slot.index);
    media->push_back(slot.kind == MediaSlot::Kind::kImage
                         ? model_.encode_image(ctx_, input.images[index], index, trace)
                         : model_.encode_audio(ctx_, input.audios[index], input.mode, trace));
  }
  if (total > 0) report("encode", total, total);
}

// The whole of a sequence stands in one regime: when it grows past the switch, its cache is worthless.
void Engine::Impl::choose_regime(RunningSequence& sequence) const {
  const RopeRegime regime = model_.decoder().rope.regime(static_cast<int64_t>(sequence.ids.size()));
  if (regime == sequence.regime) return;
  sequence.kv.clear();
  sequence.regime = regime;
}

// One ragged batch: the next token of every sequence that decodes, and as much of the prompts as the chunk has room
// for. Returns whether it held prompt rows.
bool Engine::Impl::step(std::span<const std::unique_ptr<RunningSequence>> running, const GenerationCallback& callback) {
  const Workspace::Mark mark(workspace_);
  const int64_t hidden = model_.decoder().shape.hidden;
  batch_.sequences.clear();
  active_.clear();
  ready_.clear();
  int64_t room = options_.prefill_chunk, total = 0;
  bool prefill = false;
  for (const auto& entry : running) {
    RunningSequence& sequence = *entry;
    if (sequence.done()) continue;
    choose_regime(sequence);
    const int64_t pending = static_cast<int64_t>(sequence.ids.size()) - sequence.kv.length();
    const int64_t rows = pending == 1 ? 1 : std::min(pending, room);
    if (rows == 0) continue;
    if (pending > 1) {
      room -= rows;
      prefill = true;
    }
    sequence.kv.reserve(sequence.kv.length() + rows);
    BatchSequence share;
    share.rows = rows;
    share.first = sequence.kv.length();
    share.regime = sequence.regime;
    share.adapter = model_.adapter(sequence.input.mode);
    share.kv = sequence.kv.layers();
    batch_.sequences.push_back(share);
    active_.push_back(&sequence);
    total += rows;
  }

  float* hidden_states = workspace_.take<float>(static_cast<size_t>(total * hidden));  // [tokens, hidden]
  int64_t row = 0;
  for (size_t i = 0; i < active_.size(); ++i) {
    const RunningSequence& sequence = *active_[i];
    const BatchSequence& share = batch_.sequences[i];
    const std::span<const int32_t> ids(sequence.ids.data() + share.first, static_cast<size_t>(share.rows));
    model_.embed(ctx_, ids, sequence.input.slots, sequence.media, share.first, hidden_states + row * hidden);
    row += share.rows;
  }
  model_.decoder().forward(ctx_, batch_, hidden_states);

  // Rows that are the last of their sequence move to the front: [ready, hidden].
  row = 0;
  for (size_t i = 0; i < active_.size(); ++i) {
    RunningSequence& sequence = *active_[i];
    sequence.kv.advance(batch_.sequences[i].rows);
    row += batch_.sequences[i].rows;
    if (sequence.kv.length() < static_cast<int64_t>(sequence.ids.size())) continue;
    std::memmove(hidden_states + static_cast<int64_t>(ready_.size()) * hidden, hidden_states + (row - 1) * hidden,
                 sizeof(float) * static_cast<size_t>(hidden));
    ready_.push_back(&sequence);
  }
  if (prefill) {
    for (const RunningSequence* sequence : active_) {
      report("prefill", sequence->kv.length(), static_cast<int64_t>(sequence->ids.size()));
    }
  }
  sample_rows(ready_, hidden_states, callback);
  return prefill;
}

// Draws the next token of every sequence in `ready` from its row of `hidden` [ready, hidden].
void Engine::Impl::sample_rows(std::span<RunningSequence* const> ready, const float* hidden,
                               const GenerationCallback& callback) {
  const Workspace::Mark mark(workspace_);
  const DecoderShape& shape = model_.decoder().shape;
  const int64_t count = static_cast<int64_t>(ready.size());
  const int64_t tile = std::min(count, kHeadTile);
  float* logits = workspace_.take<float>(static_cast<size_t>(tile * shape.vocab));  // [tile, vocab]
  float* log_sum_exp = workspace_.take<float>(static_cast<size_t>(tile));
  int32_t* argmax = workspace_.take<int32_t>(static_cast<size_t>(tile));
  for (int64_t begin = 0; begin < count; begin += tile) {
    const int64_t rows = std::min(tile, count - begin);
    model_.decoder().head(ctx_, hidden + begin * shape.hidden, rows, logits);
    ctx_.kernels->log_sum_exp(ctx_, LogSumExpArgs{logits, shape.vocab, rows, shape.vocab, log_sum_exp, argmax});
    for (int64_t r = 0; r < rows; ++r) {
      RunningSequence& sequence = *ready[static_cast<size_t>(begin + r)];
      const std::span<const float> row(logits + r * shape.vocab, static_cast<size_t>(shape.vocab));
      const std::string text = sequence.accept(row, log_sum_exp[r]);
      if (!callback) continue;
      const GenerationEvent event{sequence.result.token_ids.back(), sequence.result.logprobs.back(), text};
      if (!callback(event)) sequence.cancel();
    }
  }
}

std::vector<Generation> Engine::Impl::generate(std::span<const ModelInput* const> inputs,
                                               std::span<const GenerationOptions> options,
                                               const GenerationCallback& callback) {
  std::vector<std::unique_ptr<RunningSequence>> running;
  for (size_t i = 0; i < inputs.size(); ++i) {
    running.push_back(std::make_unique<RunningSequence>(model_, tokenizer_, kv_pool_, *inputs[i], options[i]));
  }
  size_t prompt_tokens = 0;
  for (const auto& sequence : running) prompt_tokens += sequence->done() ? 0 : sequence->ids.size();
  check_fits_memory(kv_pool_, prompt_tokens);
  for (const auto& sequence : running) {
    if (sequence->done()) continue;
    const auto start = std::chrono::steady_clock::now();
    encode_media(sequence->input, nullptr, &sequence->media);
    sequence->result.timings.encode_seconds = seconds_since(start);
  }
  const auto working = [](const std::unique_ptr<RunningSequence>& sequence) { return !sequence->done(); };
  while (std::any_of(running.begin(), running.end(), working)) {
    const auto start = std::chrono::steady_clock::now();
    const bool prefill = step(running, callback);
    const double seconds = seconds_since(start);
    for (RunningSequence* sequence : active_) {
      Timings& timings = sequence->result.timings;
      (prefill ? timings.prefill_seconds : timings.decode_seconds) += seconds;
    }
  }
  std::vector<Generation> results;
  for (const auto& sequence : running) results.push_back(std::move(sequence->result));
  return results;
}

void Engine::Impl::score_rows(const ModelInput& input, const ScorePass& pass, int64_t first_row, int64_t rows,
                              const float* hidden, std::vector<float>* logprobs) {
  const Workspace::Mark mark(workspace_);
  const DecoderShape& shape = model_.decoder().shape;
  const auto last_token = static_cast<int64_t>(input.ids.size()) - 1;
  float* logits = workspace_.take<float>(static_cast<size_t>(kHeadTile * shape.vocab));  // [tile, vocab]
  float log_sum_exp[kHeadTile];
  int32_t argmax[kHeadTile];
  for (int64_t begin = 0; begin < rows; begin += kHeadTile) {
    const int64_t count = std::min(kHeadTile, rows - begin);
    model_.decoder().head(ctx_, hidden + begin * shape.hidden, count, logits);
    ctx_.kernels->log_sum_exp(ctx_, LogSumExpArgs{logits, shape.vocab, count, shape.vocab, log_sum_exp, argmax});
    for (int64_t r = 0; r < count; ++r) {
      const int64_t position = first_row + begin + r;
      const float* row = logits + r * shape.vocab;
      if (!std::isfinite(log_sum_exp[r])) {
        throw Error(ErrorKind::kInternal, "logits behind token " + std::to_string(position), "not finite",
                    "finite numbers", "Check the checkpoint with `omniphi inspect` and `omniphi verify`.");
      }
      if (position == last_token && pass.trace != nullptr) pass.trace->stage("last_logits", row, Shape{shape.vocab});
      if (position >= last_token || position + 1 < pass.first) continue;
      const auto target = static_cast<size_t>(position + 1);
      if (input.ids[target] >= 0) (*logprobs)[target] = row[input.ids[target]] - log_sum_exp[r];
    }
  }
}

void Engine::Impl::run_score_pass(const ModelInput& input, std::span<const Tensor> media, const ScorePass& pass,
                                  std::vector<float>* logprobs) {
  const int64_t hidden = model_.decoder().shape.hidden;
  KvSequence kv(kv_pool_);
  while (kv.length() < pass.rows) {
    const Workspace::Mark mark(workspace_);
    BatchSequence share;
    share.first = kv.length();
    share.rows = std::min(options_.prefill_chunk, pass.rows - share.first);
    share.regime = pass.regime;
    share.adapter = model_.adapter(input.mode);
    kv.reserve(share.first + share.rows);
    share.kv = kv.layers();
    batch_.sequences.assign(1, share);
    float* hidden_states = workspace_.take<float>(static_cast<size_t>(share.rows * hidden));  // [rows, hidden]
    const std::span<const int32_t> ids(input.ids.data() + share.first, static_cast<size_t>(share.rows));
    model_.embed(ctx_, ids, input.slots, media, share.first, hidden_states);
    model_.decoder().forward(ctx_, batch_, hidden_states, pass.trace);
    kv.advance(share.rows);
    report("prefill", kv.length(), pass.rows);
    // Rows whose successor is wanted; the last row of all counts for its logits.
    const int64_t skip = std::clamp<int64_t>(pass.first - 1 - share.first, 0, share.rows);
    score_rows(input, pass, share.first + skip, share.rows - skip, hidden_states + skip * hidden, logprobs);
  }
}

std::vector<float> Engine::Impl::score(const ModelInput& input, const ScoreOptions& options) {
  check_fits_context(model_, input.ids);
  check_fits_memory(kv_pool_, input.ids.size());
  const auto count = static_cast<int64_t>(input.ids.size());
  const int64_t prompt = options.as_generated_prompt_tokens;
  if (prompt == 0 || prompt > count) {
    throw Error(ErrorKind::kInput, "prompt tokens", std::to_string(prompt),
                "from 1 to " + std::to_string(count) + ", the tokens of the list");
  }
  std::vector<Tensor> media;
  encode_media(input, options.trace, &media);

  const LongRope& rope = model_.decoder().rope;
  const int64_t switch_length = rope.original_max_position();
  std::vector<float> logprobs(input.ids.size(), std::numeric_limits<float>::quiet_NaN());
  ScorePass pass;
  pass.trace = options.trace;
  pass.rows = count;
  pass.first = 1;
  if (prompt < 0) {
    pass.regime = rope.regime(count);
    run_score_pass(input, media, pass, &logprobs);
    if (options.trace != nullptr && count > 1) {
      options.trace->stage("logprobs", logprobs.data() + 1, Shape{count - 1});
    }
    return logprobs;
  }
  // Token t was drawn behind t tokens: up to the switch in the short regime, unless the prompt was longer already.
  pass.regime = rope.regime(prompt);
  if (pass.regime == RopeRegime::kShort) {
    pass.rows = std::min(count, switch_length);
    run_score_pass(input, media, pass, &logprobs);
    if (count <= switch_length + 1) return logprobs;
    pass.rows = count;
    pass.first = switch_length + 1;
    pass.regime = RopeRegime::kLong;
  }
  run_score_pass(input, media, pass, &logprobs);
  return logprobs;
}

Engine::Engine(const CausalModel& model, const Tokenizer& tokenizer, const EngineOptions& options) {
  check_options(options);
  impl_ = std::make_unique<Impl>(model, tokenizer, options);
}

Engine::~Engine() = default;

Generation Engine::generate(const ModelInput& input, const GenerationOptions& options,
                            const GenerationCallback& callback) {
  const ModelInput* inputs[] = {&input};
  return std::move(impl_->generate(inputs, std::span(&options, 1), callback).front());
}

std::vector<Generation> Engine::generate_batch(std::span<const ModelInput* const> inputs,
                                               std::span<const GenerationOptions> options) {
  if (inputs.size() != options.size()) {
    internal_error("generate_batch", std::to_string(options.size()) + " options for " + std::to_string(inputs.size()));
  }
  return impl_->generate(inputs, options, {});
}

std::vector<float> Engine::score(const ModelInput& input, const ScoreOptions& options) {
  return impl_->score(input, options);
}

int Engine::threads() const { return impl_->ctx().pool->threads(); }
Isa Engine::isa() const { return impl_->ctx().kernels->isa; }
size_t Engine::kv_bytes() const { return impl_->kv_pool().allocated_bytes(); }
size_t Engine::kv_blocks_in_use() const { return impl_->kv_pool().blocks_in_use(); }

}  // namespace omniphi

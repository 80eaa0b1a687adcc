// omniphi bench: speed of a model beside what the machine can do at most.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>

#include "base/error.h"
#include "base/memory.h"
#include "base/rng.h"
#include "cli/app.h"
#include "cli/bench/machine.h"
#include "cli/engine_flags.h"
#include "cli/json_out.h"
#include "cli/plan/costs.h"
#include "cli/plan/plan.h"
#include "cli/report.h"
#include "cli/shipped_model.h"
#include "io/model_path.h"
#include "models/registry/registry.h"
#include "runtime/engine.h"
#include "text/tokenizer.h"

namespace omniphi::cli {
namespace {

struct BenchFlags {
  EngineFlags engine;
  int64_t prompt_tokens = 512;
  int64_t answer_tokens = 16;
  int repeat = 3;
  bool json = false;
};

struct BenchResult {
  std::string isa;
  int threads = 0;
  double prefill_tokens_per_second = 0, decode_tokens_per_second = 0;  // the best of the repetitions
  double prefill_flops_per_token = 0;
  double decode_bytes_per_token = 0;
  double read_bandwidth = 0, fma_peak = 0;  // of the machine

  double prefill_flops_per_second() const { return prefill_tokens_per_second * prefill_flops_per_token; }
  double decode_bandwidth() const { return decode_tokens_per_second * decode_bytes_per_token; }
};

void check_flags(const BenchFlags& flags) {
  if (flags.prompt_tokens < 2) {
    throw Error(ErrorKind::kUsage, "--prompt-tokens", std::to_string(flags.prompt_tokens), "2 or more");
  }
  if (flags.answer_tokens < 2) {
    throw Error(ErrorKind::kUsage, "--answer-tokens", std::to_string(flags.answer_tokens), "2 or more");
  }
  if (flags.repeat < 1 || flags.repeat > 1000) {
    throw Error(ErrorKind::kUsage, "--repeat", std::to_string(flags.repeat), "1 to 1000");
  }
}

// Ids that don't repeat: nothing about them is easy. An image's id without its image is an embedding like any other.
ModelInput random_prompt(const ModelConfig& config, int64_t tokens) {
  ModelInput input;
  for (int64_t i = 0; i < tokens; ++i) {
    const double draw = uniform_from(philox(1, 0, static_cast<uint64_t>(i)));
    input.ids.push_back(static_cast<int32_t>(draw * config.decoder.vocab_size));
  }
  return input;
}

// Every weight that a text token reads, and the keys and values before it. Of embeddings that aren't the head too it
// reads one row.
double bytes_of_token(const ModelCheckpoint& checkpoint, const BenchFlags& flags, DType kv_dtype) {
  double bytes = 0, embeddings = 0;
  bool tied = true;
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    if (tensor.expected.part != Part::kDecoder) continue;
    const auto size = static_cast<double>(tensor.view.bytes());
    bytes += size;
    if (tensor.expected.name == "model.embed_tokens.weight") embeddings = size;
    if (tensor.expected.name == "lm_head.weight") tied = false;
  }
  if (!tied) bytes -= embeddings;
  const DecoderConfig& d = checkpoint.config().decoder;
  const double context = static_cast<double>(flags.prompt_tokens) + static_cast<double>(flags.answer_tokens) / 2;
  return bytes + context * 2.0 * d.num_layers * d.num_kv_heads * d.head_dim * static_cast<double>(dtype_size(kv_dtype));
}

double flops_of_prompt(const ModelFamily& family, const ModelConfig& config, int64_t tokens) {
  PlanRequest request;
  request.text_tokens = tokens;
  return total(make_plan(family, config, request).prefill_flops) / static_cast<double>(tokens);
}

// Other work on the machine slows both sides, so both are measured in turns, and the best of each counts.
void measure_machine(ThreadPool* pool, BenchResult* result) {
  const int64_t available = available_memory();
  constexpr int64_t kBuffer = int64_t{1} << 30;
  const int64_t bytes = available > 0 ? std::min(kBuffer, available / 4) : kBuffer;
  result->read_bandwidth = std::max(result->read_bandwidth, measure_read_bandwidth(pool, bytes));
  result->fma_peak = std::max(result->fma_peak, measure_fma_peak(pool, choose_isa()));
}

BenchResult measure(const BenchFlags& flags, const EngineOptions& options) {
  const std::filesystem::path folder = resolve_model(model_or_shipped(flags.engine.model));
  const ModelFamily& family = family_of_folder(folder);
  const std::shared_ptr<const ModelCheckpoint> checkpoint = family.open(folder, {});
  report_warnings(checkpoint->warnings());
  const Tokenizer tokenizer = Tokenizer::load(folder);
  const std::unique_ptr<CausalModel> model = family.bind(*checkpoint);
  Engine engine(*model, tokenizer, options);
  const ModelInput input = random_prompt(checkpoint->config(), flags.prompt_tokens);
  GenerationOptions generation;
  generation.max_tokens = flags.answer_tokens;
  generation.ignore_eos = true;

  BenchResult result;
  result.isa = isa_name(engine.isa());
  result.threads = engine.threads();
  result.prefill_flops_per_token = flops_of_prompt(family, checkpoint->config(), flags.prompt_tokens);
  result.decode_bytes_per_token = bytes_of_token(*checkpoint, flags, options.kv_dtype);
  ThreadPool pool(options.threads);
  for (int run = 0; run <= flags.repeat; ++run) {
    measure_machine(&pool, &result);
    report_progress(run == 0 ? "warming up" : "run " + std::to_string(run) + " of " + std::to_string(flags.repeat));
    const Generation answer = engine.generate(input, generation);
    if (run == 0) continue;  // pages are read in and the work space finds its size
    const auto decoded = static_cast<double>(answer.token_ids.size() - 1);
    result.prefill_tokens_per_second = std::max(
        result.prefill_tokens_per_second, static_cast<double>(flags.prompt_tokens) / answer.timings.prefill_seconds);
    result.decode_tokens_per_second =
        std::max(result.decode_tokens_per_second, decoded / answer.timings.decode_seconds);
  }
  return result;
}

OrderedJson bench_json(const BenchFlags& flags, const BenchResult& result) {
  OrderedJson json{{"model", flags.engine.model.empty() ? std::string(kShippedModel) : flags.engine.model},
                   {"cpu", cpu_model_name()},
                   {"isa", result.isa}};
  json["threads"] = result.threads;
  json["prompt_tokens"] = flags.prompt_tokens;
  json["answer_tokens"] = flags.answer_tokens;
  const auto put = [&json](const char* name, double value) { json[name] = json_double(value, name); };
  put("prefill_tokens_per_second", result.prefill_tokens_per_second);
  put("decode_tokens_per_second", result.decode_tokens_per_second);
  put("prefill_flops_per_second", result.prefill_flops_per_second());
  put("machine_fma_peak", result.fma_peak);
  put("prefill_of_peak", result.prefill_flops_per_second() / result.fma_peak);
  put("decode_bytes_per_second", result.decode_bandwidth());
  put("machine_read_bandwidth", result.read_bandwidth);
  put("decode_of_bandwidth", result.decode_bandwidth() / result.read_bandwidth);
  return json;
}

void print_bench(const BenchFlags& flags, const BenchResult& result) {
  std::printf("%s, %s, %d threads\n", cpu_model_name().c_str(), result.isa.c_str(), result.threads);
  std::printf("prefill of %lld tokens: %.1f tokens/s, %.1f GFLOP/s, %.0f %% of the multiply-add peak (%.1f GFLOP/s)\n",
              static_cast<long long>(flags.prompt_tokens), result.prefill_tokens_per_second,
              result.prefill_flops_per_second() / 1e9, 100 * result.prefill_flops_per_second() / result.fma_peak,
              result.fma_peak / 1e9);
  std::printf("decode: %.2f tokens/s, %.1f GB/s, %.0f %% of the read bandwidth (%.1f GB/s)\n",
              result.decode_tokens_per_second, result.decode_bandwidth() / 1e9,
              100 * result.decode_bandwidth() / result.read_bandwidth, result.read_bandwidth / 1e9);
}

int bench(const BenchFlags& flags) {
  check_flags(flags);
  const EngineOptions options = engine_options(flags.engine);
  BenchResult result = measure(flags, options);
  if (flags.json) {
    print_json_line(bench_json(flags, result));
  } else {
    print_bench(flags, result);
  }
  return 0;
}

}  // namespace

void add_bench(CLI::App* root, Action* action) {
  auto flags = std::make_shared<BenchFlags>();
  CLI::App* verb = add_verb(root, "bench", "Measure prefill and decode speed beside what the machine can do at most",
                            "  omniphi bench --model ./phi4mm\n"
                            "  omniphi synth --preset phi4mm --out random && omniphi bench --model random --json\n"
                            "The best of the repetitions counts; bandwidth and peak are measured in the same run.");
  add_model_flag(verb, &flags->engine.model);
  add_engine_flags(verb, &flags->engine);
  verb->add_option("--prompt-tokens", flags->prompt_tokens, "Tokens of the prompt")
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--answer-tokens", flags->answer_tokens, "Tokens of the answer")
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--repeat", flags->repeat, "Runs behind one that warms up")->capture_default_str()->type_name("N");
  verb->add_flag("--json", flags->json, "One line of JSON on standard output");
  verb->callback([flags, action] { *action = [flags] { return bench(*flags); }; });
}

}  // namespace omniphi::cli

// omniphi run: one answer, or a chat.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <utility>

#include "cli/answer_json.h"
#include "cli/app.h"
#include "cli/batch.h"
#include "cli/chat.h"
#include "cli/engine_flags.h"
#include "cli/generation_flags.h"
#include "cli/input_flags.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/shipped_model.h"
#include "cli/terminal/pictures.h"
#include "runtime/session.h"

namespace omniphi::cli {
namespace {

struct RunFlags {
  InputFlags input;
  EngineFlags engine;
  GenerationFlags generation;
  BatchFlags batch;
  std::string pictures = "auto";
  bool no_stream = false;
  bool json = false;
};

PrepareOptions prepare_options(const RunFlags& flags) {
  PrepareOptions prepare;
  prepare.max_image_crops = flags.input.max_image_crops;
  prepare.reference_media = flags.input.reference_media;
  prepare.progress = report_progress;
  return prepare;
}

std::string model_of(const RunFlags& flags) {
  const std::string model = model_or_shipped(flags.engine.model);
  if (flags.engine.model.empty()) announce_shipped_model();
  return model;
}

void check_stop_ids(const GenerationOptions& options, const ModelConfig& config) {
  for (const int32_t id : options.stop_token_ids) {
    if (id < config.decoder.vocab_size) continue;
    throw Error(ErrorKind::kInput, "--stop-token-id", std::to_string(id),
                "an id below the vocabulary's " + std::to_string(config.decoder.vocab_size));
  }
}

// Ctrl-C ends encoding and prefill too, which may take minutes.
ProgressCallback interruptible(ProgressCallback line) {
  return [line = std::move(line)](const char* phase, int64_t done, int64_t total) {
    if (line) line(phase, done, total);
    if (InterruptGuard::raised()) throw InterruptGuard::Interrupted{};
  };
}

int run_chat(const RunFlags& flags, EngineOptions engine, const GenerationOptions& generation, Pictures* pictures) {
  if (flags.json) {
    throw Error(ErrorKind::kUsage, "--json", "nothing is asked, so this is a chat", "a prompt with --json",
                "add a prompt, --image, --audio, --messages or --token-ids");
  }
  engine.progress = interruptible(std::move(engine.progress));
  Session session(model_of(flags), engine);
  report_warnings(session.warnings());
  check_stop_ids(generation, session.config());
  return chat(&session, {flags.input.system, prepare_options(flags), generation, !flags.no_stream, pictures});
}

int run_lines(const RunFlags& flags, const EngineOptions& engine, const GenerationOptions& generation) {
  BatchSetup setup{*flags.batch.file, flags.batch.size.value_or(kDefaultBatchSize), prepare_options(flags), generation};
  setup.prepare.progress = {};  // thousands of lines would say nothing
  return run_batch(setup, [&] {
    auto session = std::make_unique<Session>(model_of(flags), engine);
    report_warnings(session->warnings());
    check_stop_ids(generation, session->config());
    return session;
  });
}

void print_summary(const ModelInput& input, const Generation& generation) {
  const Timings& timings = generation.timings;
  char line[200];
  std::snprintf(line, sizeof line, "%zu prompt tokens in %.2f s, %zu tokens in %.2f s (%s)", input.ids.size(),
                timings.encode_seconds + timings.prefill_seconds, generation.token_ids.size(), timings.decode_seconds,
                finish_reason_name(generation.finish_reason));
  report_progress(line);
}

int run(const RunFlags& flags) {
  check_input_flags(flags.input);
  check_batch_flags(flags.batch, flags.input);
  EngineOptions engine = engine_options(flags.engine);
  engine.progress = progress_line();
  const GenerationOptions options = generation_options(flags.generation);
  Pictures pictures(flags.pictures);
  if ((flags.json || flags.batch.file) && flags.pictures != "auto" && flags.pictures != "none") {
    throw Error(ErrorKind::kUsage, "--pictures " + flags.pictures,
                std::string("together with ") + (flags.json ? "--json" : "--batch"), "one of the two",
                "JSON has no room for pictures");
  }
  if (flags.batch.file) return run_lines(flags, engine, options);
  if (flags.input.empty()) return run_chat(flags, engine, options, &pictures);

  const Prompt prompt = make_prompt(flags.input);
  report_warnings(prompt.warnings);
  Session session(model_of(flags), engine);
  report_warnings(session.warnings());
  check_stop_ids(options, session.config());
  PrepareOptions prepare = prepare_options(flags);
  if (!flags.json) prepare.see_image = [&pictures](const Image& image) { pictures.show(image); };
  const ModelInput input = session.prepare(prompt, prepare);
  size_t shown = 0;
  GenerationCallback callback;
  if (!flags.json && !flags.no_stream) {
    callback = [&shown](const GenerationEvent& event) {
      std::cout << for_output(event.text) << std::flush;
      shown += event.text.size();
      return static_cast<bool>(std::cout);
    };
  }
  const Generation generation = session.engine().generate(input, options, callback);
  if (flags.json) {
    print_json_line(answer_json(input, generation));
    return 0;
  }
  std::cout << for_output(std::string_view(generation.text).substr(std::min(shown, generation.text.size()))) << "\n"
            << std::flush;
  print_summary(input, generation);
  return 0;
}

}  // namespace

void add_run(CLI::App* root, Action* action) {
  auto flags = std::make_shared<RunFlags>();
  CLI::App* verb =
      add_verb(root, "run", "Answer one prompt, or chat when none is given",
               "  omniphi run --image number.png \"Which number is this?\"      (the shipped model nano)\n"
               "  omniphi run --model microsoft/Phi-4-multimodal-instruct \"Name three colours.\"\n"
               "  omniphi run --model ./phi4mm --image receipt.jpg \"What was paid?\"\n"
               "  omniphi run --model ./phi4mm --image receipt.jpg --audio question.m4a\n"
               "  omniphi run --model ./phi4mm --messages conversation.json --temperature 0.7 --seed 1 --json\n"
               "  omniphi run --model ./phi4mm --raw-prompt \"<|user|><|image_1|>Describe.<|end|><|assistant|>\" "
               "--image a.png\n"
               "  omniphi run --model ./phi4mm --batch requests.jsonl > answers.jsonl\n"
               "  omniphi run --model ./phi4mm            (a chat: /image PATH, /audio PATH, /reset, /help, /quit)\n"
               "Media stand in front of the prompt, in command-line order.");
  add_model_flag(verb, &flags->engine.model);
  add_input_flags(verb, &flags->input);
  add_generation_flags(verb, &flags->generation);
  add_engine_flags(verb, &flags->engine);
  add_pictures_flag(verb, &flags->pictures);
  add_batch_flags(verb, &flags->batch);
  verb->add_flag("--no-stream", flags->no_stream, "Print the answer when it is complete");
  verb->add_flag("--json", flags->json, "One line of JSON on standard output: text, ids, log-probs, usage, timings");
  verb->callback([flags, action] { *action = [flags] { return run(*flags); }; });
}

}  // namespace omniphi::cli

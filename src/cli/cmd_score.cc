// omniphi score: log-probabilities of a given sequence.
#include <cmath>
#include <cstdio>
#include <iostream>

#include "cli/answer_json.h"
#include "cli/app.h"
#include "cli/engine_flags.h"
#include "cli/generation_flags.h"
#include "cli/input_flags.h"
#include "cli/report.h"
#include "cli/shipped_model.h"
#include "runtime/session.h"

namespace omniphi::cli {
namespace {

struct ScoreFlags {
  InputFlags input;
  EngineFlags engine;
  bool as_generated = false;
  int64_t prompt_tokens = -1;
  bool json = false;
};

void check_flags(const ScoreFlags& flags) {
  check_input_flags(flags.input);
  if (flags.input.empty()) {
    throw Error(ErrorKind::kUsage, "omniphi score", "nothing to score", "a prompt, --messages or --token-ids");
  }
  if (flags.as_generated != (flags.prompt_tokens >= 0)) {
    throw Error(ErrorKind::kUsage, flags.as_generated ? "--as-generated" : "--prompt-tokens",
                flags.as_generated ? "no --prompt-tokens" : "no --as-generated", "both or neither",
                "--as-generated --prompt-tokens N scores the tokens from N on as they were sampled");
  }
  if (flags.as_generated && flags.prompt_tokens < 1) {
    throw Error(ErrorKind::kUsage, "--prompt-tokens", std::to_string(flags.prompt_tokens), "1 or more");
  }
}

// A token's characters with everything that would disturb a line escaped.
std::string shown_token(const Tokenizer& tokenizer, int32_t id) {
  if (const AddedToken* token = tokenizer.added_token(id)) return token->content;
  return json_line(std::string(tokenizer.token_bytes(id)));
}

void print_table(const Session& session, const ModelInput& input, const std::vector<float>& logprobs) {
  double sum = 0;
  int64_t count = 0;
  for (size_t i = 0; i < input.ids.size(); ++i) {
    const int32_t id = input.ids[i];
    if (i == 0 || id < 0) {
      std::printf("%7zu %7d %12s  ", i, id, "");
    } else {
      sum += static_cast<double>(logprobs[i]);
      ++count;
      std::printf("%7zu %7d %12.6f  ", i, id, static_cast<double>(logprobs[i]));
    }
    std::printf("%s\n", id < 0 ? "(picture)" : shown_token(session.tokenizer(), id).c_str());
  }
  const auto scored = static_cast<double>(count);
  std::printf("%zu tokens, input mode %s", input.ids.size(), input_mode_name(input.mode));
  if (scored > 0) {
    std::printf(", sum %.6f, mean %.6f, perplexity %.4f", sum, sum / scored, std::exp(-sum / scored));
  }
  std::printf("\n");
}

int score(const ScoreFlags& flags) {
  check_flags(flags);
  const EngineOptions options = engine_options(flags.engine);
  const Prompt prompt = make_prompt(flags.input);
  report_warnings(prompt.warnings);

  Session session(model_or_shipped(flags.engine.model), options);
  report_warnings(session.warnings());
  PrepareOptions prepare;
  prepare.max_image_crops = flags.input.max_image_crops;
  prepare.reference_media = flags.input.reference_media;
  // A conversation that ends with an answer is scored as it stands; otherwise as `run` would send it.
  prepare.add_generation_prompt = prompt.messages.empty() || prompt.messages.back().role != "assistant";
  prepare.progress = report_progress;
  const ModelInput input = session.prepare(prompt, prepare);

  ScoreOptions scoring;
  if (flags.as_generated) {
    if (flags.prompt_tokens > static_cast<int64_t>(input.ids.size())) {
      throw Error(ErrorKind::kInput, "--prompt-tokens", std::to_string(flags.prompt_tokens),
                  "at most the sequence's " + std::to_string(input.ids.size()) + " tokens");
    }
    scoring.as_generated_prompt_tokens = flags.prompt_tokens;
  }
  report_progress("scoring " + std::to_string(input.ids.size()) + " tokens");
  const std::vector<float> logprobs = session.engine().score(input, scoring);
  const OrderedJson json = score_json(input, logprobs);  // checks that every value is finite, in both forms
  if (flags.json) {
    print_json_line(json);
  } else {
    print_table(session, input, logprobs);
  }
  return 0;
}

}  // namespace

void add_score(CLI::App* root, Action* action) {
  auto flags = std::make_shared<ScoreFlags>();
  CLI::App* verb =
      add_verb(root, "score", "Print the log-probability of every token of a given sequence",
               "  omniphi score --model ./phi4mm --token-ids ids.json --json\n"
               "  omniphi score --model ./phi4mm --image chart.png --messages conversation.json\n"
               "  omniphi score --model ./phi4mm --token-ids ids.json --as-generated --prompt-tokens 812 --json\n"
               "A message list that ends with an assistant's message is scored as it stands and closed as the template "
               "closes it; any "
               "other input as omniphi run would send it.");
  add_model_flag(verb, &flags->engine.model);
  add_input_flags(verb, &flags->input);
  add_engine_flags(verb, &flags->engine);
  verb->add_flag("--as-generated", flags->as_generated,
                 "Give each token from --prompt-tokens on the value that it had when it was sampled (LongRoPE)");
  verb->add_option("--prompt-tokens", flags->prompt_tokens, "How many of the sequence's tokens were the prompt")
      ->type_name("N");
  verb->add_flag("--json", flags->json, "One line of JSON on standard output");
  refuse_generation_flags(verb);
  verb->callback([flags, action] { *action = [flags] { return score(*flags); }; });
}

}  // namespace omniphi::cli

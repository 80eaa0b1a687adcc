#include "cli/generation_flags.h"

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/utf8.h"
#include "cli/engine_flags.h"
#include "io/json.h"

namespace omniphi::cli {
namespace {

[[noreturn]] void refuse(const std::string& flag, const std::string& found, const std::string& expected) {
  throw Error(ErrorKind::kUsage, flag, found, expected);
}

struct Range {
  float low, high;
  const char* expected;
};

void check_range(const char* flag, float value, const Range& range) {
  if (!std::isfinite(value) || value < range.low || value > range.high) {
    refuse(flag, std::to_string(value), range.expected);
  }
}

std::pair<int32_t, float> parse_bias(const std::string& text) {
  const size_t equals = text.find('=');
  std::pair<int32_t, float> bias{-1, 0};
  bool good = equals != std::string::npos;
  if (good) {
    const char* begin = text.data();
    const char* middle = begin + equals;
    const char* end = begin + text.size();
    const auto id = std::from_chars(begin, middle, bias.first);
    const char* value_begin = middle + 1 + (middle + 1 < end && middle[1] == '+' ? 1 : 0);
    const auto value = std::from_chars(value_begin, end, bias.second);
    good = id.ec == std::errc() && id.ptr == middle && value.ec == std::errc() && value.ptr == end && bias.first >= 0 &&
           std::isfinite(bias.second);
  }
  if (!good) refuse("--logit-bias", show_text(text), "ID=VALUE, for example 200020=-5");
  return bias;
}

// Name, whether it takes a value.
constexpr std::pair<const char*, bool> kGenerationFlags[] = {{"--max-tokens", true},
                                                             {"--temperature", true},
                                                             {"--top-k", true},
                                                             {"--top-p", true},
                                                             {"--min-p", true},
                                                             {"--repetition-penalty", true},
                                                             {"--presence-penalty", true},
                                                             {"--frequency-penalty", true},
                                                             {"--logit-bias", true},
                                                             {"--seed", true},
                                                             {"--stop", true},
                                                             {"--stop-token-id", true},
                                                             {"--ignore-eos", false},
                                                             {"--no-stream", false}};

}  // namespace

void add_generation_flags(CLI::App* verb, GenerationFlags* flags) {
  GenerationOptions& options = flags->options;
  SamplingOptions& sampling = options.sampling;
  const std::string group = "Generation";
  verb->add_option("--max-tokens", options.max_tokens, "Longest answer in tokens (default: to the context limit)")
      ->type_name("N")
      ->group(group);
  verb->add_option("--temperature", sampling.temperature, "0 is greedy (default); higher is more random")
      ->type_name("X")
      ->group(group);
  verb->add_option("--top-k", sampling.top_k, "Sample among the K most likely; 0 is off (default)")
      ->type_name("K")
      ->group(group);
  verb->add_option("--top-p", sampling.top_p, "Sample among the most likely that together reach P (default 1: off)")
      ->type_name("P")
      ->group(group);
  verb->add_option("--min-p", sampling.min_p, "Leave out what is less likely than P times the most likely (default 0)")
      ->type_name("P")
      ->group(group);
  verb->add_option("--repetition-penalty", sampling.repetition_penalty,
                   "Above 1: makes tokens of prompt and answer less likely (default 1)")
      ->type_name("X")
      ->group(group);
  verb->add_option("--presence-penalty", sampling.presence_penalty,
                   "Taken off once from the logits of tokens in the answer (default 0)")
      ->type_name("X")
      ->group(group);
  verb->add_option("--frequency-penalty", sampling.frequency_penalty,
                   "Taken off for every occurrence in the answer (default 0)")
      ->type_name("X")
      ->group(group);
  verb->add_option_function<std::string>(
          "--logit-bias", [flags](const std::string& text) { flags->logit_bias.push_back(text); },
          "Added to the logit of a token id (repeatable)")
      ->trigger_on_parse()
      ->type_name("ID=VALUE")
      ->group(group);
  add_seed_flag(verb, &sampling.seed, "Seed of the draws (default 0)")->group(group);
  verb->add_option_function<std::string>(
          "--stop", [flags](const std::string& text) { flags->options.stop_strings.push_back(text); },
          "Text that ends the answer and is left out of it (repeatable)")
      ->trigger_on_parse()
      ->type_name("TEXT")
      ->group(group);
  verb->add_option_function<int32_t>(
          "--stop-token-id", [flags](const int32_t& id) { flags->options.stop_token_ids.push_back(id); },
          "Token id that ends the answer, besides the checkpoint's own (repeatable)")
      ->trigger_on_parse()
      ->type_name("ID")
      ->group(group);
  verb->add_flag("--ignore-eos", options.ignore_eos, "The checkpoint's own stop tokens don't end the answer")
      ->group(group);
}

void refuse_generation_flags(CLI::App* verb) {
  for (const auto& [name, takes_value] : kGenerationFlags) {
    const std::string message = verb->get_name() + " generates nothing";
    const auto refuse_flag = [flag = std::string(name), message](const std::string&) {
      throw Error(ErrorKind::kUsage, flag, "a flag of generation", "no such flag: " + message,
                  "leave it out, or use omniphi run");
    };
    CLI::Option* option = verb->add_option_function<std::string>(name, refuse_flag)->group("")->trigger_on_parse();
    if (!takes_value) option->expected(0, 1);
  }
}

GenerationOptions generation_options(const GenerationFlags& flags) {
  GenerationOptions options = flags.options;
  SamplingOptions& sampling = options.sampling;
  constexpr float kBig = 1e6f;
  if (options.max_tokens != -1 && options.max_tokens < 1) {
    refuse("--max-tokens", std::to_string(options.max_tokens), "1 or more");
  }
  check_range("--temperature", sampling.temperature, {0, kBig, "0 or more"});
  if (sampling.top_k < 0) refuse("--top-k", std::to_string(sampling.top_k), "0 or more");
  check_range("--top-p", sampling.top_p, {0, 1, "above 0, at most 1"});
  if (sampling.top_p == 0) refuse("--top-p", "0", "above 0, at most 1");
  check_range("--min-p", sampling.min_p, {0, 1, "0 to 1"});
  check_range("--repetition-penalty", sampling.repetition_penalty, {0, kBig, "above 0"});
  if (sampling.repetition_penalty == 0) refuse("--repetition-penalty", "0", "above 0");
  check_range("--presence-penalty", sampling.presence_penalty, {-kBig, kBig, "a number"});
  check_range("--frequency-penalty", sampling.frequency_penalty, {-kBig, kBig, "a number"});
  for (const std::string& text : flags.logit_bias) sampling.logit_bias.push_back(parse_bias(text));
  for (const std::string& text : options.stop_strings) {
    if (text.empty()) refuse("--stop", "an empty text", "at least one character");
    if (find_invalid_utf8(text) != std::string::npos) refuse("--stop", show_text(text), "UTF-8");
  }
  for (const int32_t id : options.stop_token_ids) {
    if (id < 0) refuse("--stop-token-id", std::to_string(id), "0 or more");
  }
  return options;
}

}  // namespace omniphi::cli

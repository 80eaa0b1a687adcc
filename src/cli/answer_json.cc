#include "cli/answer_json.h"

namespace omniphi::cli {
namespace {

double rate(double count, double seconds) { return seconds > 0 ? count / seconds : 0; }

OrderedJson usage_json(const ModelInput& input, const Generation& generation) {
  const auto prompt = static_cast<int64_t>(input.ids.size());
  const auto completion = static_cast<int64_t>(generation.token_ids.size());
  OrderedJson usage;
  usage["prompt_tokens"] = prompt;
  usage["completion_tokens"] = completion;
  usage["total_tokens"] = prompt + completion;
  usage["prompt_tokens_details"] = OrderedJson{{"text_tokens", prompt - input.image_tokens() - input.audio_tokens()},
                                               {"image_tokens", input.image_tokens()},
                                               {"audio_tokens", input.audio_tokens()}};
  return usage;
}

OrderedJson timings_json(const ModelInput& input, const Generation& generation) {
  const Timings& timings = generation.timings;
  OrderedJson json;
  json["encode_seconds"] = json_double(timings.encode_seconds, "timings");
  json["prefill_seconds"] = json_double(timings.prefill_seconds, "timings");
  json["decode_seconds"] = json_double(timings.decode_seconds, "timings");
  json["prefill_tokens_per_second"] = rate(static_cast<double>(input.ids.size()), timings.prefill_seconds);
  // The first token comes out of the prefill.
  const double decoded = generation.token_ids.empty() ? 0 : static_cast<double>(generation.token_ids.size() - 1);
  json["decode_tokens_per_second"] = rate(decoded, timings.decode_seconds);
  return json;
}

}  // namespace

OrderedJson answer_json(const ModelInput& input, const Generation& generation) {
  OrderedJson json;
  json["text"] = generation.text;
  json["token_ids"] = generation.token_ids;
  json["logprobs"] = json_floats(generation.logprobs, "logprobs");
  json["prompt_token_ids"] = input.ids;
  json["finish_reason"] = finish_reason_name(generation.finish_reason);
  json["input_mode"] = input_mode_name(input.mode);
  json["usage"] = usage_json(input, generation);
  json["timings"] = timings_json(input, generation);
  return json;
}

OrderedJson score_json(const ModelInput& input, const std::vector<float>& logprobs) {
  OrderedJson list = OrderedJson::array();
  list.push_back(nullptr);
  for (size_t i = 1; i < logprobs.size(); ++i) {
    const bool slot = input.ids[i] < 0;  // of a picture: no vocabulary holds it
    list.push_back(slot ? OrderedJson(nullptr) : json_float(logprobs[i], "logprobs[" + std::to_string(i) + "]"));
  }
  OrderedJson json;
  json["token_ids"] = input.ids;
  json["logprobs"] = std::move(list);
  json["input_mode"] = input_mode_name(input.mode);
  return json;
}

}  // namespace omniphi::cli

// The JSON lines of `run` and `score`.
#pragma once

#include <vector>

#include "cli/json_out.h"
#include "models/model_input.h"
#include "runtime/engine.h"

namespace omniphi::cli {

// text, token_ids, logprobs, prompt_token_ids, finish_reason, input_mode, usage, timings.
OrderedJson answer_json(const ModelInput& input, const Generation& generation);

// token_ids, logprobs (the first null), input_mode.
OrderedJson score_json(const ModelInput& input, const std::vector<float>& logprobs);

}  // namespace omniphi::cli

// One dump of the reference against a loaded model.
#pragma once

#include <string>
#include <vector>

#include "cli/verify/reference_dump.h"
#include "cli/verify/stage_check.h"
#include "runtime/session.h"

namespace omniphi::cli {

struct VerifyResult {
  std::string name;
  std::string input_mode;
  std::vector<StageResult> stages;  // in pipeline order
  std::string note;                 // what was left out, and why
  Timings timings;                  // of the greedy continuation
  int64_t prompt_tokens = 0;

  // The first stage that differs, or null.
  const StageResult* first_difference() const;
};

// `scale` multiplies every tolerance. Throws kInput as prepare_input() does.
VerifyResult verify(Session* session, const ReferenceDump& dump, double scale);

}  // namespace omniphi::cli

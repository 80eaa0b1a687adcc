// A plan as JSON and as tables.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/json_out.h"
#include "cli/plan/plan.h"

namespace omniphi::cli {

// `model` is how the caller named the configuration.
OrderedJson plan_json(const std::string& model, const PlanRequest& request, const Plan& plan);

// What deserves a sentence: advice of the publisher, a cache that is out of proportion.
std::vector<std::string> remarks(const Plan& plan);

// "48.0 GiB", "1.234 TFLOP".
std::string bytes_text(double bytes);
std::string work_text(double flops);

void print_plan(const std::string& model, const PlanRequest& request, const Plan& plan, std::ostream& out);

}  // namespace omniphi::cli

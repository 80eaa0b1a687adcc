// A plan as JSON and as tables.
#pragma once

#include <iosfwd>
#include <string>

#include "cli/json_out.h"
#include "cli/plan/plan.h"

namespace omniphi::cli {

// `model` is how the caller named the configuration.
OrderedJson plan_json(const std::string& model, const PlanRequest& request, const Plan& plan);

void print_plan(const std::string& model, const PlanRequest& request, const Plan& plan, std::ostream& out);

}  // namespace omniphi::cli

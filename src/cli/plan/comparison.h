// Plans of one prompt for several models, side by side.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "cli/json_out.h"
#include "cli/plan/plan.h"

namespace omniphi::cli {

struct NamedPlan {
  std::string name;  // how the caller named the configuration
  PlanRequest request;
  Plan plan;
};

// {"plans": [...]}, each as plan_json() gives it alone.
OrderedJson comparison_json(const std::vector<NamedPlan>& plans);

// A row a quantity, a column a model.
void print_comparison(const std::vector<NamedPlan>& plans, std::ostream& out);

}  // namespace omniphi::cli

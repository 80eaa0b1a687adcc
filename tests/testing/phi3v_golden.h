// Reads the goldens of tests/parity/phi3v, whose format its README.md describes in section 1.
#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/golden.h"

namespace omniphi::testing {

inline std::string phi3v_root() { return family_root("phi3v"); }
inline std::string phi3v_path(const std::string& relative) { return family_path("phi3v", relative); }

// A case of cases/cases.json.
inline nlohmann::json phi3v_case(const std::string& name) {
  const nlohmann::json all = read_test_json(phi3v_root() + "/cases/cases.json");
  for (const nlohmann::json& entry : all.at("cases")) {
    if (entry.at("name") == name) return entry;
  }
  throw std::runtime_error("the goldens have no case " + name);
}

// The ids of a prompt before it was expanded: one -k for each picture.
inline std::vector<int32_t> phi3v_slots(const GoldenTensor& input_ids) {
  std::vector<int32_t> ids;
  for (const double value : input_ids.values) {
    const auto id = static_cast<int32_t>(value);
    if (id >= 0 || ids.empty() || ids.back() != id) ids.push_back(id);
  }
  return ids;
}

// What `entry` says of the tensor, and its stored values.
inline GoldenTensor phi3v_tensor(const GoldenTensor& stored, const nlohmann::json& entry) {
  GoldenTensor tensor = stored;
  tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
  tensor.stride = entry.at("stride").get<int64_t>();
  return tensor;
}

// testing::compare, and the statistics of the whole tensor that these goldens keep.
template <typename T>
::testing::AssertionResult compare_phi3v(const std::string& stage, const GoldenTensor& golden,
                                         const nlohmann::json& entry, const std::vector<T>& computed,
                                         double tolerance) {
  ::testing::AssertionResult result = compare(stage, golden, computed, tolerance);
  if (!result) return result;
  const WholeStats whole(computed);
  const std::pair<const char*, double> checks[] = {
      {"mean", whole.mean}, {"std", whole.deviation}, {"absmax", whole.absmax}};
  for (const std::pair<const char*, double>& check : checks) {
    const double wanted = entry.at(check.first).get<double>();
    if (!(std::abs(check.second - wanted) <= tolerance + 1e-6 * std::abs(wanted))) {
      return ::testing::AssertionFailure()
             << "stage " << stage << ": " << check.first << " of the whole tensor is " << check.second
             << ", the golden's " << wanted << " (tolerance " << tolerance << ")";
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace omniphi::testing

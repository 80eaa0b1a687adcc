// Reads the goldens of tests/parity/phi3v, whose format its README.md describes in section 1.
#pragma once

#include <cmath>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/golden.h"

namespace omniphi::testing {

inline std::string phi3v_root() { return std::string(OMNIPHI_SOURCE_DIR) + "/tests/parity/phi3v"; }

// A file of these goldens by its path inside them; see golden_path(). Empty when it is nowhere: skip by name then.
inline std::string phi3v_path(const std::string& relative) {
  for (const std::string& root : {phi3v_root(), std::string(OMNIPHI_SOURCE_DIR) + "/../shared/goldens/phi3v"}) {
    if (std::filesystem::exists(root + "/" + relative)) return root + "/" + relative;
  }
  return "";
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
  double sum = 0, squares = 0, absmax = 0;
  for (const T value : computed) {
    const auto v = static_cast<double>(value);
    sum += v;
    squares += v * v;
    absmax = std::max(absmax, std::abs(v));
  }
  const auto count = static_cast<double>(computed.size());
  const double mean = sum / count;
  const double deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
  const std::pair<const char*, double> checks[] = {{"mean", mean}, {"std", deviation}, {"absmax", absmax}};
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

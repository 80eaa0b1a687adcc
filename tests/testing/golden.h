// Reads the golden cases of tests/parity and compares whole computed tensors with what they store of the reference's.
// The format is described in tests/parity/phi4mm/README.md, section 1. Independent of src/io on purpose: a fault in the
// product's reader must not hide in the tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace omniphi::testing {

// The goldens of a family: "phi4mm" or "phi3v".
inline std::string family_root(const std::string& family) {
  return std::string(OMNIPHI_SOURCE_DIR) + "/tests/parity/" + family;
}

// A file of the goldens by its path inside them ("media/cars.jpg"): from the repository, or, for the third-party media
// that the repository doesn't carry, from ../shared beside it. Empty when neither has it: skip by name then.
inline std::string family_path(const std::string& family, const std::string& relative) {
  for (const std::string& root :
       {family_root(family), std::string(OMNIPHI_SOURCE_DIR) + "/../shared/goldens/" + family}) {
    if (std::filesystem::exists(root + "/" + relative)) return root + "/" + relative;
  }
  return "";
}

inline std::string golden_root() { return family_root("phi4mm"); }
inline std::string golden_path(const std::string& relative) { return family_path("phi4mm", relative); }

inline std::string read_test_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("test data is missing: " + path);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline nlohmann::json read_test_json(const std::string& path) { return nlohmann::json::parse(read_test_file(path)); }

// One stored tensor. Element i of `values` is element i * stride of the row-major whole.
struct GoldenTensor {
  std::vector<int64_t> shape;  // of the whole tensor
  int64_t stride = 1;
  std::vector<double> values;
  nlohmann::json stats;  // mean, std, absmax, sum, l2 of the whole, or null

  int64_t count() const {
    int64_t product = 1;
    for (const int64_t extent : shape) product *= extent;
    return product;
  }
};

template <typename T>
void append_as_double(const char* bytes, size_t count, std::vector<double>* values) {
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
    values->push_back(static_cast<double>(value));
  }
}

// All tensors of a safetensors file, as doubles.
inline std::map<std::string, GoldenTensor> read_test_safetensors(const std::string& path) {
  const std::string file = read_test_file(path);
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, file.data(), 8);
  const nlohmann::json header = nlohmann::json::parse(file.substr(8, header_bytes));
  std::map<std::string, GoldenTensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    GoldenTensor tensor;
    tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
    const auto begin = entry.at("data_offsets").at(0).get<size_t>();
    const std::string dtype = entry.at("dtype");
    const auto count = static_cast<size_t>(tensor.count());
    const char* bytes = file.data() + 8 + header_bytes + begin;
    if (dtype == "F32")
      append_as_double<float>(bytes, count, &tensor.values);
    else if (dtype == "F64")
      append_as_double<double>(bytes, count, &tensor.values);
    else if (dtype == "I64")
      append_as_double<int64_t>(bytes, count, &tensor.values);
    else if (dtype == "I32")
      append_as_double<int32_t>(bytes, count, &tensor.values);
    else if (dtype == "U8" || dtype == "BOOL")
      append_as_double<uint8_t>(bytes, count, &tensor.values);
    else
      throw std::runtime_error("golden " + path + ": dtype " + dtype + " of " + name);
    tensors[name] = std::move(tensor);
  }
  return tensors;
}

// One case: cases/NAME.json and cases/NAME.safetensors.
struct Golden {
  std::string name;
  nlohmann::json json;
  std::map<std::string, GoldenTensor> tensors;

  static Golden load(const std::string& name) {
    Golden golden;
    golden.name = name;
    golden.json = read_test_json(golden_root() + "/cases/" + name + ".json");
    golden.tensors = read_test_safetensors(golden_root() + "/cases/" + name + ".safetensors");
    for (auto& [stage, tensor] : golden.tensors) {
      const nlohmann::json& entry = golden.json.at("tensors").at(stage);
      tensor.shape = entry.at("shape").get<std::vector<int64_t>>();
      tensor.stride = entry.value("stride", int64_t{1});
      if (entry.contains("stats")) tensor.stats = entry.at("stats");
    }
    return golden;
  }

  bool has(const std::string& stage) const { return tensors.count(stage) != 0; }
  const GoldenTensor& tensor(const std::string& stage) const { return tensors.at(stage); }
};

// Over a whole computed tensor: what the goldens keep of theirs, because a sample leaves elements out.
struct WholeStats {
  double count = 0, mean = 0, deviation = 0, absmax = 0, l2 = 0;

  template <typename T>
  explicit WholeStats(const std::vector<T>& values) : count(static_cast<double>(values.size())) {
    double sum = 0, squares = 0;
    for (const T value : values) {
      const auto v = static_cast<double>(value);
      sum += v;
      squares += v * v;
      absmax = std::max(absmax, std::abs(v));
    }
    mean = sum / count;
    deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
    l2 = std::sqrt(squares);
  }
};

// Compares a whole computed tensor (row-major) with a stored one: the element count, every stored element within
// `tolerance`, and the statistics of the whole, which also cover the elements that a sample leaves out. The message
// names the stage and the worst element. NaN never passes.
template <typename T>
::testing::AssertionResult compare(const std::string& stage, const GoldenTensor& golden, const std::vector<T>& computed,
                                   double tolerance) {
  if (static_cast<int64_t>(computed.size()) != golden.count()) {
    return ::testing::AssertionFailure() << "stage " << stage << ": " << computed.size() << " elements, the golden has "
                                         << golden.count();
  }
  double worst = 0;
  size_t worst_index = 0;
  for (size_t i = 0; i < golden.values.size(); ++i) {
    const size_t at = i * static_cast<size_t>(golden.stride);
    double diff = std::abs(static_cast<double>(computed[at]) - golden.values[i]);
    if (std::isnan(diff)) diff = std::numeric_limits<double>::infinity();
    if (diff > worst) {
      worst = diff;
      worst_index = i;
    }
  }
  if (worst > tolerance) {
    const size_t at = worst_index * static_cast<size_t>(golden.stride);
    return ::testing::AssertionFailure() << "stage " << stage << ": worst difference " << worst << " (tolerance "
                                         << tolerance << ") at flat index " << at << ": " << +computed[at]
                                         << ", golden " << golden.values[worst_index];
  }
  if (golden.stats.is_null()) return ::testing::AssertionSuccess();
  const WholeStats whole(computed);
  // If every element is within t, then the mean and the largest are, and the L2 norm is within t * sqrt(count).
  const std::pair<const char*, double> checks[] = {
      {"mean", std::abs(whole.mean - golden.stats.at("mean").get<double>())},
      {"absmax", std::abs(whole.absmax - golden.stats.at("absmax").get<double>())},
      {"l2", std::abs(whole.l2 - golden.stats.at("l2").get<double>()) / std::sqrt(whole.count)}};
  for (const auto& [what, diff] : checks) {
    if (!(diff <= tolerance + 1e-12)) {
      return ::testing::AssertionFailure() << "stage " << stage << ": " << what << " of the whole tensor is off by "
                                           << diff << " (tolerance " << tolerance << ")";
    }
  }
  return ::testing::AssertionSuccess();
}

// The same by stage name, so that the message names the case too.
template <typename T>
::testing::AssertionResult compare(const Golden& golden, const std::string& stage, const std::vector<T>& computed,
                                   double tolerance) {
  if (!golden.has(stage)) return ::testing::AssertionFailure() << golden.name << " has no stage " << stage;
  return compare(golden.name + "/" + stage, golden.tensor(stage), computed, tolerance);
}

}  // namespace omniphi::testing

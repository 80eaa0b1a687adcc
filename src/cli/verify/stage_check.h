// Compares the stages of a forward pass with a reference's as they pass by.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/verify/reference_dump.h"
#include "models/trace.h"

namespace omniphi::cli {

struct StageResult {
  std::string name;
  bool agrees = true;
  std::string problem;  // why not, when it isn't a difference of values
  double worst = 0;     // largest absolute difference
  int64_t index = 0;    // flat index of it
  double ours = 0, reference = 0;
  double tolerance = 0;
};

// Largest absolute difference that float32 arithmetic explains: a fixed part by the kind of stage, ten times what an
// independent implementation showed on the goldens (their README, section 13), and 2e-5 of the stage's largest value,
// because rounding grows with magnitude.
double stage_tolerance(const ReferenceStage& stage);

// Position of a stage in the pipeline: smaller comes first.
std::pair<int, int> stage_rank(const std::string& name);

// Takes each stage in pieces, keeps nothing of them but the result.
class StageChecker : public Trace {
 public:
  // `crop_places`: where each crop that runs lies among the reference's, which pads images with fewer crops.
  // `scale` multiplies every tolerance.
  StageChecker(const ReferenceDump& dump, std::vector<int64_t> crop_places, double scale);

  void stage(const std::string& name, const float* data, const Shape& shape) override;

  // Compares a whole stage at once.
  template <typename T>
  void whole(const std::string& name, const std::vector<T>& values) {
    const std::vector<float> floats(values.begin(), values.end());
    stage(name, floats.data(), Shape{static_cast<int64_t>(floats.size())});
  }

  // Adds a result that was found elsewhere.
  void add(StageResult result) { others_.push_back(std::move(result)); }

  // In pipeline order; stages of the reference that `expected` says must have come and didn't are differences.
  std::vector<StageResult> results(const std::vector<std::string>& expected) const;

 private:
  struct Progress {
    StageResult result;
    int64_t pieces = 0;
    int64_t elements = 0;
    double sum = 0, squares = 0, absmax = 0;
  };
  void compare(const ReferenceStage& reference, const float* data, int64_t count, int64_t offset, Progress* progress);
  StageResult finished(const ReferenceStage& reference, const Progress& progress) const;
  bool padded(const ReferenceStage& reference) const;

  const ReferenceDump& dump_;
  std::vector<int64_t> crop_places_;
  double scale_;
  std::map<std::string, Progress> progress_;
  std::vector<StageResult> others_;
};

}  // namespace omniphi::cli

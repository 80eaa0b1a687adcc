// Keeps every stage of a forward pass.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/trace.h"

namespace omniphi::testing {

class CollectingTrace : public Trace {
 public:
  void stage(const std::string& name, const float* data, const Shape& shape) override {
    std::vector<float>& values = stages[name];
    values.insert(values.end(), data, data + shape.count());
  }

  std::map<std::string, std::vector<float>> stages;
};

}  // namespace omniphi::testing

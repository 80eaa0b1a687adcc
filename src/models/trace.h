// A look into the forward pass, stage by stage.
#pragma once

#include <string>

#include "tensor/shape.h"

namespace omniphi {

// Receives the stages of a forward pass under the names of tests/parity/phi4mm/README.md, section 1. A stage may come
// in pieces (crops, chunks of audio, prefill chunks): pieces of one name concatenate along their first axis. Tracing
// never changes a bit.
class Trace {
 public:
  virtual ~Trace() = default;
  virtual void stage(const std::string& name, const float* data, const Shape& shape) = 0;
};

}  // namespace omniphi

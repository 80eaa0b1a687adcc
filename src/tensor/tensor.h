// Views of memory with a type and a shape, and a float tensor that owns its memory.
#pragma once

#include <cstdint>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace omniphi {

// Memory that somebody else owns, row-major and dense. Weights in a mapped file are Views; the data may be unaligned.
struct View {
  const void* data = nullptr;
  DType dtype = DType::kF32;
  Shape shape;

  int64_t count() const { return shape.count(); }
  size_t bytes() const { return static_cast<size_t>(count()) * dtype_size(dtype); }
};

// Element `index` of a view of floats of any width, as float32.
float view_at(const View& view, int64_t index);

// All elements of a view of floats (f32, bf16, f16, f64) as float32.
std::vector<float> to_f32(const View& view);

// Float32 values with a shape: what processors and encoders hand on.
struct Tensor {
  Shape shape;
  std::vector<float> data;

  Tensor() = default;
  explicit Tensor(Shape s) : shape(std::move(s)), data(static_cast<size_t>(shape.count())) {}

  View view() const { return View{data.data(), DType::kF32, shape}; }
};

}  // namespace omniphi

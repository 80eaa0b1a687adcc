#include "tensor/tensor.h"

#include <cstring>

#include "base/error.h"

namespace omniphi {

float view_at(const View& view, int64_t index) {
  const char* at = static_cast<const char*>(view.data) + static_cast<size_t>(index) * dtype_size(view.dtype);
  switch (view.dtype) {
    case DType::kF32: {
      float value;
      std::memcpy(&value, at, sizeof value);
      return value;
    }
    case DType::kF64: {
      double value;
      std::memcpy(&value, at, sizeof value);
      return static_cast<float>(value);
    }
    case DType::kBF16: {
      uint16_t bits;
      std::memcpy(&bits, at, sizeof bits);
      return bf16_to_f32(bits);
    }
    case DType::kF16: {
      uint16_t bits;
      std::memcpy(&bits, at, sizeof bits);
      return f16_to_f32(bits);
    }
    default:
      internal_error("view_at", std::string("dtype ") + dtype_name(view.dtype) + " is not a float type");
  }
}

std::vector<float> to_f32(const View& view) {
  std::vector<float> values(static_cast<size_t>(view.count()));
  if (view.dtype == DType::kF32) {
    if (!values.empty()) std::memcpy(values.data(), view.data, view.bytes());
    return values;
  }
  for (size_t i = 0; i < values.size(); ++i) values[i] = view_at(view, static_cast<int64_t>(i));
  return values;
}

}  // namespace omniphi

// The extents of a tensor, outermost first.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace omniphi {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> extents) : extents_(extents) {}
  explicit Shape(std::vector<int64_t> extents) : extents_(std::move(extents)) {}

  int rank() const { return static_cast<int>(extents_.size()); }
  int64_t operator[](int axis) const { return extents_[static_cast<size_t>(axis)]; }
  const std::vector<int64_t>& extents() const { return extents_; }

  // Product of the extents; 1 for a scalar.
  int64_t count() const {
    int64_t product = 1;
    for (const int64_t extent : extents_) product *= extent;
    return product;
  }

  // "[2, 3]"
  std::string to_string() const {
    std::string text = "[";
    for (size_t i = 0; i < extents_.size(); ++i) text += (i ? ", " : "") + std::to_string(extents_[i]);
    return text + "]";
  }

  bool operator==(const Shape&) const = default;

 private:
  std::vector<int64_t> extents_;
};

}  // namespace omniphi

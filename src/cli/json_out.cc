#include "cli/json_out.h"

#include <charconv>
#include <cmath>
#include <iostream>

#include "base/error.h"

namespace omniphi::cli {

OrderedJson json_double(double value, const std::string& what) {
  if (!std::isfinite(value)) internal_error(what, std::isnan(value) ? "not a number" : "an infinity");
  return value;
}

OrderedJson json_float(float value, const std::string& what) {
  json_double(value, what);
  // The double nearest to the float's shortest digits prints as those digits, and so rounds to the float again.
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  double shortest = 0;
  std::from_chars(digits, written.ptr, shortest);
  return shortest;
}

OrderedJson json_floats(std::span<const float> values, const std::string& what) {
  OrderedJson list = OrderedJson::array();
  for (size_t i = 0; i < values.size(); ++i) {
    list.push_back(json_float(values[i], what + "[" + std::to_string(i) + "]"));
  }
  return list;
}

std::string json_line(const OrderedJson& value) {
  return value.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

void print_json_line(const OrderedJson& value) { std::cout << json_line(value) << "\n" << std::flush; }

}  // namespace omniphi::cli

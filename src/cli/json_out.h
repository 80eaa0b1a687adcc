// One line of JSON on standard output.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

namespace omniphi::cli {

// Keys in the order in which they were set.
using OrderedJson = nlohmann::ordered_json;

// A number whose digits are the shortest that give the same float32 back. Throws kInternal naming `what` when it isn't
// finite: JSON has no such number.
OrderedJson json_float(float value, const std::string& what);

// The same for a double.
OrderedJson json_double(double value, const std::string& what);

// A list of floats.
OrderedJson json_floats(std::span<const float> values, const std::string& what);

// The text of a value on one line. ASCII only, so that no reader's idea of a line end can cut it.
std::string json_line(const OrderedJson& value);

// Prints the line and flushes.
void print_json_line(const OrderedJson& value);

}  // namespace omniphi::cli

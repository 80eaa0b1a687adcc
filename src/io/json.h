// Reading JSON that nobody has vouched for.
#pragma once

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/error.h"

namespace omniphi {

// Deepest nesting of objects and lists that is read unless told otherwise.
inline constexpr size_t kMaxJsonDepth = 64;

// Parses one JSON value of at most `max_depth` nested containers. Refuses, as an Error of `kind` about `where`: invalid
// syntax or UTF-8 (with line and column), NaN and infinities, numbers beyond a double, deeper nesting, and objects that
// hold a key twice (readers disagree about which one counts).
nlohmann::json parse_json(std::string_view text, const std::string& where, ErrorKind kind,
                          size_t max_depth = kMaxJsonDepth);

// parse_json of a file of at most `max_bytes`; `where` is the file's name.
nlohmann::json read_json(const std::filesystem::path& path, size_t max_bytes, ErrorKind kind);

// A value as an error message shows it: compact JSON, non-ASCII and control characters escaped, cut after about 200
// characters. Never throws, whatever bytes a string holds.
std::string show_json(const nlohmann::json& value);

// show_json of a string.
std::string show_text(std::string_view text);

}  // namespace omniphi

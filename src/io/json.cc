#include "io/json.h"

#include <unordered_set>
#include <vector>

#include "base/file.h"

namespace omniphi {
namespace {

using nlohmann::json;

constexpr size_t kMaxShown = 200;

// "[json.exception.parse_error.101] parse error at line 1, column 2: text" -> from "parse error" on.
std::string without_tag(const std::string& what) {
  const size_t end = what.find("] ");
  return end == std::string::npos ? what : what.substr(end + 2);
}

// Watches nesting and keys while the parser builds the value.
class Guard {
 public:
  Guard(const std::string& where, ErrorKind kind, size_t max_depth)
      : where_(where), kind_(kind), max_depth_(max_depth) {}

  bool operator()(json::parse_event_t event, json& value) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        keys_.emplace_back();
        if (keys_.size() > max_depth_) {
          throw Error(kind_, where_, "more than " + std::to_string(max_depth_) + " nested objects or lists",
                      "at most " + std::to_string(max_depth_));
        }
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        keys_.pop_back();
        break;
      case json::parse_event_t::key:
        if (!keys_.back().insert(value.get_ref<const std::string&>()).second) {
          throw Error(kind_, where_, "the key " + show_json(value) + " occurs twice in one object", "each key once");
        }
        break;
      case json::parse_event_t::value:
        break;
    }
    return true;
  }

 private:
  const std::string& where_;
  ErrorKind kind_;
  size_t max_depth_;
  std::vector<std::unordered_set<std::string>> keys_;  // of the containers that are open
};

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where, ErrorKind kind, size_t max_depth) {
  Guard guard(where, kind, max_depth);
  try {
    return json::parse(text.begin(), text.end(),
                       [&guard](int, json::parse_event_t event, json& value) { return guard(event, value); });
  } catch (const json::exception& e) {
    throw Error(kind, where, without_tag(e.what()), "valid JSON");
  }
}

nlohmann::json read_json(const std::filesystem::path& path, size_t max_bytes, ErrorKind kind) {
  return parse_json(read_file(path, max_bytes, kind), path.filename().string(), kind);
}

std::string show_json(const nlohmann::json& value) {
  // ASCII output means that cutting can't split a character.
  std::string text = value.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "...";
  return text;
}

std::string show_text(std::string_view text) { return show_json(json(std::string(text.substr(0, 4 * kMaxShown)))); }

}  // namespace omniphi

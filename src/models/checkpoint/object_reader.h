// Reads one JSON object of a configuration against rules, and remembers which keys no rule has asked for.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "io/reasons.h"

namespace omniphi {

// What checking a configuration brings to light.
struct ConfigNotes {
  Reasons reasons;                    // why it is refused
  std::vector<std::string> inert;     // keys that have no effect on inference
  std::vector<std::string> warnings;  // keys that are not known
};

enum class Unknown : uint8_t { kWarn, kRefuse };
enum class Presence : uint8_t { kRequired, kOptional };

// An inclusive range of integers.
struct Range {
  int64_t low = 0;
  int64_t high = 0;
};

// The value of an integer of zero or more (not a float, not a bool); nothing for anything else.
std::optional<uint64_t> natural(const nlohmann::json& value);

// Every getter marks its key as known. A value that breaks the rule becomes a reason that names file and key, and the
// getter returns the stand-in that it documents, so that the rest can still be checked.
class ObjectReader {
 public:
  // `file` and `path` name the object in messages: "config.json" and "rope_scaling" (empty for the whole file).
  // The object and the notes must outlive the reader. A value that is not an object becomes a reason and reads as {}.
  ObjectReader(const nlohmann::json& object, std::string file, std::string path, ConfigNotes& notes);

  bool has(std::string_view key) const;
  // True when a rule has asked for the key already.
  bool asked(std::string_view key) const { return seen_.contains(key); }
  // Null when the key is absent.
  const nlohmann::json* get(std::string_view key);

  // An integer (not a float, not a bool) in `range`; `fallback` when the key is absent and there is one. 0 on refusal.
  int integer(std::string_view key, Range range, std::optional<int> fallback = std::nullopt);
  // A finite number above zero. `fallback` as above; 0 on refusal.
  double positive(std::string_view key, std::optional<double> fallback = std::nullopt);
  // A list of exactly `count` finite numbers above zero; empty on refusal.
  std::vector<double> positive_list(std::string_view key, int count);
  // Must hold exactly this value, of this type; absent is fine when optional.
  void must_be(std::string_view key, const nlohmann::json& value, Presence presence);
  // Must be absent, null, false, {} or []; anything else means that the checkpoint needs what isn't implemented.
  void must_be_unset(std::string_view key);
  // Keys that have no effect on inference, whatever they hold.
  void inert(std::initializer_list<std::string_view> keys);
  template <typename Keys>
  void inert_all(const Keys& keys) {
    for (const std::string_view key : keys) note_inert(key);
  }

  // The object under `key`; empty on refusal, and when it is absent.
  std::optional<ObjectReader> object(std::string_view key, Presence presence);

  // Adds a reason about `key`.
  void refuse(std::string_view key, std::string found, std::string expected, std::string remedy = "");

  // To be called last: keys that nothing has asked for become warnings or reasons.
  void finish(Unknown policy);

  // "config.json: rope_scaling.type"
  std::string where(std::string_view key) const;

 private:
  std::string dotted(std::string_view key) const;
  void note_inert(std::string_view key);

  const nlohmann::json* object_;
  std::string file_, path_;
  ConfigNotes* notes_;
  std::set<std::string, std::less<>> seen_;
};

}  // namespace omniphi

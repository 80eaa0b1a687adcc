// A JSON value with the path that leads to it, so that every check of a tokenizer's file can say where it failed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace omniphi {

// Throws kCheckpoint. `found` is shown shortened, in ASCII.
[[noreturn]] void refuse_field(const std::string& where, const nlohmann::json& found, const std::string& expected);

// Refers to a value that outlives it. All checks throw kCheckpoint.
class Field {
 public:
  Field(const nlohmann::json& value, std::string where) : value_(&value), where_(std::move(where)) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& where() const { return where_; }
  bool is_null() const { return value_->is_null(); }

  // A missing key gives null.
  Field operator[](const std::string& key) const;

  std::vector<Field> items() const;

  // Refuses keys outside the list.
  void only(std::initializer_list<const char*> keys) const;

  // Refuses every value but the given ones; null stands for a missing key too.
  void must_be(std::initializer_list<nlohmann::json> accepted) const;

  bool as_bool(std::optional<bool> fallback = {}) const;

  // Not empty.
  std::string as_text() const;

  // An id of a token, up to kMaxTokenId.
  int32_t as_id() const;

 private:
  const nlohmann::json* value_;
  std::string where_;
};

}  // namespace omniphi

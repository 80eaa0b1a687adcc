#include "text/tokenizer_field.h"

#include "base/error.h"
#include "text/tokenizer_json.h"

namespace omniphi {

using nlohmann::json;

namespace {

constexpr const char* kRemedy = "Use the tokenizer.json of a released checkpoint.";

}  // namespace

void refuse_field(const std::string& where, const json& found, const std::string& expected) {
  std::string text = found.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 400) text = text.substr(0, 397) + "...";
  throw Error(ErrorKind::kCheckpoint, where, text, expected, kRemedy);
}

Field Field::operator[](const std::string& key) const {
  static const json kNull;
  if (!value_->is_object()) refuse_field(where_, *value_, "an object");
  const auto it = value_->find(key);
  return {it == value_->end() ? kNull : *it, where_ + (where_.ends_with(':') ? " " : ".") + key};
}

std::vector<Field> Field::items() const {
  if (!value_->is_array()) refuse_field(where_, *value_, "a list");
  std::vector<Field> fields;
  for (size_t i = 0; i < value_->size(); ++i) {
    fields.emplace_back((*value_)[i], where_ + "[" + std::to_string(i) + "]");
  }
  return fields;
}

void Field::only(std::initializer_list<const char*> keys) const {
  if (!value_->is_object()) refuse_field(where_, *value_, "an object");
  for (const auto& [key, ignored] : value_->items()) {
    bool known = false;
    for (const char* name : keys) known = known || key == name;
    if (known) continue;
    throw Error(ErrorKind::kCheckpoint, where_, "the unknown key " + json(key).dump(-1, ' ', true), "", kRemedy);
  }
}

void Field::must_be(std::initializer_list<json> accepted) const {
  std::string expected;
  for (const json& option : accepted) {
    if (*value_ == option) return;
    if (!expected.empty()) expected += " or ";
    expected += option.dump(-1, ' ', true);
  }
  refuse_field(where_, *value_, expected);
}

bool Field::as_bool(std::optional<bool> fallback) const {
  if (is_null() && fallback) return *fallback;
  if (!value_->is_boolean()) refuse_field(where_, *value_, "true or false");
  return value_->get<bool>();
}

std::string Field::as_text() const {
  if (!value_->is_string() || value_->get_ref<const std::string&>().empty()) refuse_field(where_, *value_, "a text");
  return value_->get<std::string>();
}

int32_t Field::as_id() const {
  if (!value_->is_number_unsigned() || value_->get<uint64_t>() > static_cast<uint64_t>(kMaxTokenId)) {
    refuse_field(where_, *value_, "an id from 0 to " + std::to_string(kMaxTokenId));
  }
  return value_->get<int32_t>();
}

}  // namespace omniphi

#include "models/checkpoint/object_reader.h"

#include <cmath>
#include <utility>

namespace omniphi {
namespace {

using nlohmann::json;

const json& empty_object() {
  static const json kEmpty = json::object();
  return kEmpty;
}

bool is_positive_number(const json& value) {
  return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() > 0;
}

// Same value and same type; nlohmann takes 1 and 1.0 for equal, which here are an int and a float. A number may stand
// as an integer where a float is meant (0 for 0.0), as JSON writers do.
bool same_value(const json& a, const json& expected) {
  if (expected.is_number_integer()) return a.is_number_integer() && a == expected;
  return a == expected;
}

}  // namespace

std::optional<uint64_t> natural(const json& value) {
  if (value.is_number_unsigned()) return value.get<uint64_t>();
  if (value.is_number_integer() && value.get<int64_t>() >= 0) return static_cast<uint64_t>(value.get<int64_t>());
  return std::nullopt;
}

ObjectReader::ObjectReader(const json& object, std::string file, std::string path, ConfigNotes& notes)
    : object_(&object), file_(std::move(file)), path_(std::move(path)), notes_(&notes) {
  if (object.is_object()) return;
  object_ = &empty_object();
  notes_->reasons.add(path_.empty() ? file_ : file_ + ": " + path_, show_json(object), "an object");
}

std::string ObjectReader::dotted(std::string_view key) const {
  std::string name(key);
  // A key from the file may hold anything; those that rules ask for are plain.
  for (const char c : key) {
    if (static_cast<unsigned char>(c) < 0x21 || static_cast<unsigned char>(c) > 0x7e || c == '"') {
      name = show_text(key);
      break;
    }
  }
  if (name.size() > 200) name = show_text(key);
  return path_.empty() ? name : path_ + "." + name;
}

std::string ObjectReader::where(std::string_view key) const { return file_ + ": " + dotted(key); }

bool ObjectReader::has(std::string_view key) const { return object_->find(key) != object_->end(); }

const json* ObjectReader::get(std::string_view key) {
  seen_.emplace(key);
  const auto found = object_->find(key);
  return found == object_->end() ? nullptr : &*found;
}

void ObjectReader::refuse(std::string_view key, std::string found, std::string expected, std::string remedy) {
  notes_->reasons.add(where(key), std::move(found), std::move(expected), std::move(remedy));
}

int ObjectReader::integer(std::string_view key, Range range, std::optional<int> fallback) {
  const json* value = get(key);
  if (value == nullptr && fallback) return *fallback;
  const std::string expected = "an integer from " + std::to_string(range.low) + " to " + std::to_string(range.high);
  if (value == nullptr) {
    refuse(key, "missing", expected);
    return 0;
  }
  const bool fits = value->is_number_integer() &&
                    !(value->is_number_unsigned() && value->get<uint64_t>() > static_cast<uint64_t>(INT64_MAX));
  if (!fits || value->get<int64_t>() < range.low || value->get<int64_t>() > range.high) {
    refuse(key, show_json(*value), expected);
    return 0;
  }
  return static_cast<int>(value->get<int64_t>());
}

double ObjectReader::positive(std::string_view key, std::optional<double> fallback) {
  const json* value = get(key);
  if (value == nullptr && fallback) return *fallback;
  if (value == nullptr || !is_positive_number(*value)) {
    refuse(key, value == nullptr ? "missing" : show_json(*value), "a number above zero");
    return 0;
  }
  return value->get<double>();
}

std::vector<double> ObjectReader::positive_list(std::string_view key, int count) {
  const json* value = get(key);
  const std::string expected = "a list of " + std::to_string(count) + " numbers above zero";
  if (value == nullptr || !value->is_array()) {
    refuse(key, value == nullptr ? "missing" : show_json(*value), expected);
    return {};
  }
  if (value->size() != static_cast<size_t>(count)) {
    refuse(key, std::to_string(value->size()) + " values", expected);
    return {};
  }
  std::vector<double> list;
  for (size_t i = 0; i < value->size(); ++i) {
    if (!is_positive_number((*value)[i])) {
      refuse(key, show_json((*value)[i]) + " at index " + std::to_string(i), expected);
      return {};
    }
    list.push_back((*value)[i].get<double>());
  }
  return list;
}

void ObjectReader::must_be(std::string_view key, const json& value, Presence presence) {
  const json* found = get(key);
  if (found == nullptr && presence == Presence::kOptional) return;
  if (found == nullptr || !same_value(*found, value)) {
    refuse(key, found == nullptr ? "missing" : show_json(*found), show_json(value));
  }
}

void ObjectReader::must_be_unset(std::string_view key) {
  const json* value = get(key);
  if (value == nullptr || value->is_null() || *value == false || (value->is_structured() && value->empty())) return;
  refuse(key, show_json(*value), "nothing: omniphi doesn't implement it");
}

void ObjectReader::note_inert(std::string_view key) {
  if (get(key) != nullptr) notes_->inert.push_back(where(key));
}

void ObjectReader::inert(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) note_inert(key);
}

std::optional<ObjectReader> ObjectReader::object(std::string_view key, Presence presence) {
  const json* value = get(key);
  if (value == nullptr || !value->is_object()) {
    if (value != nullptr || presence == Presence::kRequired) {
      refuse(key, value == nullptr ? "missing" : show_json(*value), "an object");
    }
    return std::nullopt;
  }
  return ObjectReader(*value, file_, dotted(key), *notes_);
}

void ObjectReader::finish(Unknown policy) {
  for (const auto& [key, value] : object_->items()) {
    if (seen_.contains(key)) continue;
    if (policy == Unknown::kRefuse) {
      refuse(key, show_json(value), "no such key", "omniphi doesn't know what it changes.");
    } else {
      notes_->warnings.push_back(where(key) + ": unknown key with the value " + show_json(value) + ", ignored");
    }
  }
}

}  // namespace omniphi

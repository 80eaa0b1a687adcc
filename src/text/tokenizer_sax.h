// tokenizer.json as it streams by: the vocabulary and the merges, 400,000 entries, go straight into vectors; the rest,
// which is small, becomes a JSON value.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "text/tokenizer_json.h"

namespace omniphi {

// The deepest nesting that is read. Released files need six levels.
inline constexpr size_t kMaxJsonDepth = 64;

// The handler of nlohmann::json::sax_parse. Throws kCheckpoint.
class TokenizerSax {
 public:
  TokenizerSax(TokenizerFile* file, std::string where);

  // Everything but model.vocab and model.merges, which are empty containers in it.
  const nlohmann::json& rest() const { return rest_; }

  bool null() { return value(nullptr); }
  bool boolean(bool v) { return value(v); }
  bool number_integer(int64_t v) { return value(v); }
  bool number_unsigned(uint64_t v);
  bool number_float(double v, const std::string&) { return value(v); }
  bool string(std::string& v);
  bool binary(std::vector<uint8_t>&) { return false; }  // JSON has none
  bool start_object(size_t) { return start(nlohmann::json::object()); }
  bool end_object() { return end(); }
  bool start_array(size_t) { return start(nlohmann::json::array()); }
  bool end_array() { return end(); }
  bool key(std::string& v);
  bool parse_error(size_t position, const std::string& last_token, const nlohmann::json::exception& error);

 private:
  enum class In { kRest, kVocab, kMerges, kPair };

  bool start(nlohmann::json container);
  bool end();
  bool value(nlohmann::json v);
  nlohmann::json* place(nlohmann::json v);  // puts a value where the document stands; returns where it is
  std::string path() const;                 // "model.vocab", for errors
  [[noreturn]] void refuse(const std::string& found, const std::string& expected) const;

  TokenizerFile* file_;
  std::string where_;
  In in_ = In::kRest;
  size_t depth_ = 0;
  nlohmann::json rest_;
  std::vector<nlohmann::json*> stack_;  // open containers of rest_; stable, because only the last one grows
  std::vector<std::string> keys_;       // the last key of every open container ("" in an array)
  std::string vocab_key_;
  std::vector<std::string> pair_;
};

}  // namespace omniphi

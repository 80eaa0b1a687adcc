// What the tests of the text layer share: the two tokenizers, goldens, random text.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "text/tokenizer.h"

namespace omniphi::text_test {

// A file of the repository, by its path from the root.
std::string read_data(const std::string& path);
nlohmann::json read_json(const std::string& path);

// The content of a gzip file of the repository.
std::string read_gzip(const std::string& path);

// tokenizer.json with the whole o200k vocabulary, and the tokenizer itself (loaded once).
const std::string& full_tokenizer_json();
const Tokenizer& full_tokenizer();

// The tokenizer of the tiny checkpoint, and its file.
const std::string& tiny_tokenizer_json();
const Tokenizer& tiny_tokenizer();

// The small tokenizer of testing/sentencepiece_file.h.
const Tokenizer& small_tokenizer();

// Phi-3.5-vision's own, from ../shared beside the repository, which may not carry it; null where it isn't: skip by
// name.
const Tokenizer* phi3v_tokenizer();
inline constexpr const char* kNoPhi3vTokenizer = "phi3_vision_tokenizer.json.gz is not part of the repository";

std::vector<int32_t> encode(const Tokenizer& tokenizer, const std::string& text);
std::vector<int32_t> encode_special(const Tokenizer& tokenizer, const std::string& text);
std::vector<int32_t> encode_specials_as_text(const Tokenizer& tokenizer, const std::string& text);

// Text of up to `length` characters from many scripts, symbols, controls, white space, contractions and unassigned code
// points, without "<", so that it holds no control token.
std::string random_text(std::mt19937& random, size_t length);

}  // namespace omniphi::text_test

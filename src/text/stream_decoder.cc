#include "text/stream_decoder.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"

namespace omniphi {
namespace {

// failure[n]: the length of the longest proper prefix of `pattern` that is also a suffix of its first n bytes.
std::vector<size_t> failure_function(const std::string& pattern) {
  std::vector<size_t> failure(pattern.size() + 1, 0);
  size_t matched = 0;
  for (size_t i = 1; i < pattern.size(); ++i) {
    while (matched > 0 && pattern[i] != pattern[matched]) matched = failure[matched];
    if (pattern[i] == pattern[matched]) ++matched;
    failure[i + 1] = matched;
  }
  return failure;
}

}  // namespace

StreamDecoder::StreamDecoder(const Tokenizer& tokenizer, StreamDecoderOptions options)
    : joiner_(tokenizer, {.skip_special = !options.show_special}),
      options_(std::move(options)),
      matched_(options_.stop.size(), 0) {
  for (size_t i = 0; i < options_.stop.size(); ++i) {
    const std::string& stop = options_.stop[i];
    if (stop.empty() || find_invalid_utf8(stop) != std::string::npos) {
      throw Error(ErrorKind::kInput, "stop[" + std::to_string(i) + "]",
                  stop.empty() ? "an empty string" : "bytes that are not UTF-8", "a text of at least one character");
    }
    failure_.push_back(failure_function(stop));
  }
}

std::string StreamDecoder::filter(const std::string& text) {
  if (matched_.empty()) return text;
  for (const char c : text) {
    withheld_ += c;
    size_t complete = 0;  // the longest stop string that the text ends with
    for (size_t i = 0; i < matched_.size(); ++i) {
      const std::string& stop = options_.stop[i];
      size_t& matched = matched_[i];
      while (matched > 0 && stop[matched] != c) matched = failure_[i][matched];
      if (stop[matched] == c) ++matched;
      if (matched == stop.size() && matched > complete) {
        complete = matched;
        stop_index_ = i;
      }
    }
    if (complete > 0) {
      withheld_.resize(withheld_.size() - complete);
      return std::exchange(withheld_, {});
    }
  }
  // The longest beginning of a stop string that the text ends with; it starts at a character, as stop strings do.
  const size_t certain = withheld_.size() - *std::max_element(matched_.begin(), matched_.end());
  std::string out = withheld_.substr(0, certain);
  withheld_.erase(0, certain);
  return out;
}

std::string StreamDecoder::push(int32_t id) {
  if (stopped()) return {};
  std::string text;
  joiner_.push(id, &text);
  return filter(text);
}

std::string StreamDecoder::flush() {
  if (stopped()) return {};
  std::string text;
  joiner_.flush(&text);
  std::string out = filter(text);
  out += std::exchange(withheld_, {});
  return out;
}

}  // namespace omniphi

#include "text/added_tokens.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "text/unicode.h"

namespace omniphi {
namespace {

bool is_space_at(std::string_view text, size_t at) {
  return unicode::is_space(unicode::class_of(read_code_point(text, at).value));
}

// The first byte of the character that ends at `end` > 0.
size_t previous(std::string_view text, size_t end) {
  size_t at = end - 1;
  while (at > 0 && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

// Whether a word character stands right before `begin` or right behind `end`, inside `stretch`.
bool touches_word(std::string_view text, TextSegment stretch, size_t begin, size_t end) {
  if (begin > stretch.begin && unicode::is_word(read_code_point(text, previous(text, begin)).value)) return true;
  return end < stretch.end && unicode::is_word(read_code_point(text, end).value);
}

}  // namespace

size_t skip_space(std::string_view text, size_t begin) {
  while (begin < text.size() && is_space_at(text, begin)) begin += read_code_point(text, begin).length;
  return begin;
}

size_t skip_space_back(std::string_view text, size_t end) {
  while (end > 0) {
    const size_t at = previous(text, end);
    if (!is_space_at(text, at)) break;
    end = at;
  }
  return end;
}

AddedTokenMatcher::AddedTokenMatcher(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::sort(tokens_.begin(), tokens_.end(), [](const AddedToken& a, const AddedToken& b) { return a.id < b.id; });
  for (const AddedToken& token : tokens_) {
    by_content_[token.content] = &token;
    Buckets& buckets = token.normalized ? normalized_ : raw_;
    buckets[static_cast<uint8_t>(token.content[0])].push_back(&token);
    any_normalized_ = any_normalized_ || token.normalized;
  }
  for (Buckets* buckets : {&raw_, &normalized_}) {
    for (auto& bucket : *buckets) {
      std::sort(bucket.begin(), bucket.end(),
                [](const AddedToken* a, const AddedToken* b) { return a->content.size() > b->content.size(); });
    }
  }
}

const AddedToken* AddedTokenMatcher::longest_at(const Buckets& buckets, std::string_view text, size_t at) {
  for (const AddedToken* token : buckets[static_cast<uint8_t>(text[at])]) {
    if (text.substr(at, token->content.size()) == token->content) return token;
  }
  return nullptr;
}

void AddedTokenMatcher::cut(const Search& search, TextSegment stretch, std::vector<TextSegment>* out) {
  const std::string_view text = search.text;
  const std::string_view visible = text.substr(0, stretch.end);
  size_t plain = stretch.begin;  // where the text that no token has taken yet begins
  for (size_t at = stretch.begin; at < stretch.end;) {
    const AddedToken* token = longest_at(search.buckets, visible, at);
    if (token == nullptr) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + token->content.size();
    at = end;
    if (token->special && search.recognise == Recognise::kUnlessSpecial) continue;
    if (token->single_word && touches_word(text, stretch, begin, end)) continue;
    if (token->lstrip) begin = std::max(skip_space_back(text, begin), plain);
    if (token->rstrip) end = skip_space(visible, end);
    if (plain < begin) out->push_back({plain, begin, nullptr});
    out->push_back({begin, end, token});
    plain = end;
  }
  if (plain < stretch.end) out->push_back({plain, stretch.end, nullptr});
}

std::vector<TextSegment> AddedTokenMatcher::find(std::string_view text, Recognise recognise) const {
  std::vector<TextSegment> segments;
  cut({raw_, text, recognise}, {0, text.size(), nullptr}, &segments);
  if (!any_normalized_) return segments;
  std::vector<TextSegment> all;
  for (const TextSegment& segment : segments) {
    if (segment.token != nullptr) {
      all.push_back(segment);
    } else {
      cut({normalized_, text, recognise}, segment, &all);
    }
  }
  return all;
}

const AddedToken* AddedTokenMatcher::by_content(std::string_view content) const {
  const auto it = by_content_.find(content);
  return it == by_content_.end() ? nullptr : it->second;
}

const AddedToken* AddedTokenMatcher::by_id(int32_t id) const {
  const auto it = std::lower_bound(tokens_.begin(), tokens_.end(), id,
                                   [](const AddedToken& token, int32_t value) { return token.id < value; });
  return it != tokens_.end() && it->id == id ? &*it : nullptr;
}

}  // namespace omniphi

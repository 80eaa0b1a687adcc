#include "models/phi4mm/checkpoint/pattern.h"

#include <utility>

namespace omniphi::phi4mm {
namespace {

constexpr size_t kMaxLength = 512;
constexpr int kMaxNesting = 32;

struct Problem {
  std::string text;
};

std::bitset<256> range(unsigned char low, unsigned char high) {
  std::bitset<256> chars;
  for (unsigned c = low; c <= high; ++c) chars.set(c);
  return chars;
}

bool is_punctuation(char c) {
  return c > ' ' && c < 127 && !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z');
}

}  // namespace

// Recursive descent from the right: each piece is compiled knowing the node that follows it.
class PatternCompiler {
 public:
  PatternCompiler(std::string_view text, std::vector<Pattern::Node>& nodes) : text_(text), nodes_(nodes) {}

  int compile() {
    const int accept = add({Pattern::Kind::kAccept, {}, -1, -1});
    const Fragment whole = alternatives(0);
    if (at_ != text_.size()) throw Problem{"an unopened )"};
    patch(whole, accept);
    return whole.start;
  }

 private:
  using Node = Pattern::Node;
  using Kind = Pattern::Kind;
  // A piece with one way in and loose ends: (node, whether it is `other`).
  struct Fragment {
    int start = -1;
    std::vector<std::pair<int, bool>> ends;
  };

  int add(Node node) {
    nodes_.push_back(std::move(node));
    return static_cast<int>(nodes_.size()) - 1;
  }
  void patch(const Fragment& piece, int target) {
    for (const auto& [node, other] : piece.ends) {
      (other ? nodes_[static_cast<size_t>(node)].other : nodes_[static_cast<size_t>(node)].next) = target;
    }
  }
  Fragment single(Kind kind, const std::bitset<256>& chars = {}) {
    const int node = add({kind, chars, -1, -1});
    return {node, {{node, false}}};
  }
  bool more() const { return at_ < text_.size(); }

  Fragment alternatives(int depth) {
    if (depth > kMaxNesting) throw Problem{"groups nested too deeply"};
    Fragment whole = sequence(depth);
    while (more() && text_[at_] == '|') {
      ++at_;
      const Fragment next = sequence(depth);
      const int split = add({Kind::kSplit, {}, whole.start, next.start});
      whole.start = split;
      whole.ends.insert(whole.ends.end(), next.ends.begin(), next.ends.end());
    }
    return whole;
  }

  Fragment sequence(int depth) {
    // An empty sequence is a split with one way out.
    const int entry = add({Kind::kSplit, {}, -1, -1});
    Fragment whole{entry, {{entry, false}}};
    while (more() && text_[at_] != '|' && text_[at_] != ')') {
      Fragment piece = repeated(depth);
      patch(whole, piece.start);
      whole.ends = std::move(piece.ends);
    }
    return whole;
  }

  Fragment repeated(int depth) {
    Fragment piece = atom(depth);
    if (!more() || (text_[at_] != '*' && text_[at_] != '+' && text_[at_] != '?')) return piece;
    const char kind = text_[at_++];
    if (more() && text_[at_] == '?') ++at_;  // lazy
    if (more() && (text_[at_] == '*' || text_[at_] == '+' || text_[at_] == '?')) throw Problem{"a repeated repetition"};
    const int split = add({Kind::kSplit, {}, piece.start, -1});
    if (kind == '?') {
      piece.ends.emplace_back(split, true);
      return {split, std::move(piece.ends)};
    }
    patch(piece, split);
    return {kind == '*' ? split : piece.start, {{split, true}}};
  }

  Fragment atom(int depth) {
    const char c = text_[at_++];
    switch (c) {
      case '(':
        return group(depth);
      case '[':
        return char_class();
      case '.':
        return single(Kind::kChars, ~range('\n', '\n'));
      case '^':
        return single(Kind::kBegin);
      case '$':
        return single(Kind::kEnd);
      case '\\':
        return single(Kind::kChars, escaped());
      case '*':
      case '+':
      case '?':
        throw Problem{"a repetition of nothing"};
      case '{':
        throw Problem{"a counted repetition"};
      default:
        return single(Kind::kChars, range(static_cast<unsigned char>(c), static_cast<unsigned char>(c)));
    }
  }

  Fragment group(int depth) {
    if (more() && text_[at_] == '?') {
      if (at_ + 1 >= text_.size() || text_[at_ + 1] != ':') throw Problem{"a special group"};
      at_ += 2;
    }
    Fragment inner = alternatives(depth + 1);
    if (!more()) throw Problem{"an unclosed ("};
    ++at_;
    return inner;
  }

  std::bitset<256> escaped() {
    if (!more()) throw Problem{"a trailing backslash"};
    const char c = text_[at_++];
    if (c == 'd') return range('0', '9');
    if (c == 'w') return range('0', '9') | range('a', 'z') | range('A', 'Z') | range('_', '_');
    if (!is_punctuation(c)) throw Problem{std::string("the escape \\") + c};
    return range(static_cast<unsigned char>(c), static_cast<unsigned char>(c));
  }

  Fragment char_class() {
    std::bitset<256> chars;
    const bool inverted = more() && text_[at_] == '^';
    if (inverted) ++at_;
    bool first = true;
    while (true) {
      if (!more()) throw Problem{"an unclosed ["};
      const char c = text_[at_++];
      if (c == ']' && !first) break;
      first = false;
      if (c == '\\') {
        chars |= escaped();
      } else if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
        const char high = text_[at_ + 1];
        if (high == '\\' || static_cast<unsigned char>(high) < static_cast<unsigned char>(c)) {
          throw Problem{"a range in [ ] that can't be read"};
        }
        chars |= range(static_cast<unsigned char>(c), static_cast<unsigned char>(high));
        at_ += 2;
      } else {
        chars |= range(static_cast<unsigned char>(c), static_cast<unsigned char>(c));
      }
    }
    return single(Kind::kChars, inverted ? ~chars : chars);
  }

  std::string_view text_;
  std::vector<Node>& nodes_;
  size_t at_ = 0;
};

bool Pattern::compile(std::string_view text, Pattern* pattern, std::string* problem) {
  if (text.size() > kMaxLength) {
    *problem = std::to_string(text.size()) + " characters, more than " + std::to_string(kMaxLength);
    return false;
  }
  pattern->nodes_.clear();
  try {
    pattern->start_ = PatternCompiler(text, pattern->nodes_).compile();
  } catch (const Problem& found) {
    *problem = found.text;
    return false;
  }
  return true;
}

// Adds `node` and all that is reached from it without reading a character.
void Pattern::follow(int node, size_t at, size_t length, std::vector<int>& states, std::vector<bool>& present) const {
  std::vector<int> pending = {node};
  while (!pending.empty()) {
    const int current = pending.back();
    pending.pop_back();
    if (current < 0 || present[static_cast<size_t>(current)]) continue;
    present[static_cast<size_t>(current)] = true;
    const Node& state = nodes_[static_cast<size_t>(current)];
    if (state.kind == Kind::kSplit) {
      pending.push_back(state.next);
      pending.push_back(state.other);
    } else if ((state.kind == Kind::kBegin && at == 0) || (state.kind == Kind::kEnd && at == length)) {
      pending.push_back(state.next);
    } else {
      states.push_back(current);
    }
  }
}

bool Pattern::matches(std::string_view text) const {
  std::vector<int> states, next;
  std::vector<bool> present(nodes_.size());
  follow(start_, 0, text.size(), states, present);
  for (size_t at = 0; at < text.size(); ++at) {
    next.clear();
    present.assign(nodes_.size(), false);
    for (const int state : states) {
      const Node& node = nodes_[static_cast<size_t>(state)];
      if (node.kind == Kind::kChars && node.chars[static_cast<unsigned char>(text[at])]) {
        follow(node.next, at + 1, text.size(), next, present);
      }
    }
    states.swap(next);
    if (states.empty()) return false;
  }
  for (const int state : states) {
    if (nodes_[static_cast<size_t>(state)].kind == Kind::kAccept) return true;
  }
  return false;
}

}  // namespace omniphi::phi4mm

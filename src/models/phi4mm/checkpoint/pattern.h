// The part of Python's regular expressions that module patterns are written in.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

namespace omniphi::phi4mm {

// A pattern compiled to a nondeterministic automaton and run over all its states at once: the time is at most the
// pattern's length times the text's, whatever the pattern. Understands literals, `.`, `\d`, `\w`, escaped punctuation,
// classes, groups, `|`, `*`, `+`, `?` (greedy or lazy, which is the same for a whole match), `^` and `$`.
class Pattern {
 public:
  // False, with *problem saying what, when the pattern is malformed or uses anything else.
  static bool compile(std::string_view text, Pattern* pattern, std::string* problem);

  // Python's re.fullmatch.
  bool matches(std::string_view text) const;

 private:
  friend class PatternCompiler;
  enum class Kind : unsigned char { kChars, kSplit, kBegin, kEnd, kAccept };
  struct Node {
    Kind kind = Kind::kAccept;
    std::bitset<256> chars;  // of kChars
    int next = -1;
    int other = -1;  // second way out of kSplit
  };
  void follow(int node, size_t at, size_t length, std::vector<int>& states, std::vector<bool>& present) const;

  std::vector<Node> nodes_;
  int start_ = 0;
};

}  // namespace omniphi::phi4mm

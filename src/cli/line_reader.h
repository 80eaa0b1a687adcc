// Lines from a file, a pipe or a terminal, without waiting for more than one.
#pragma once

#include <cstddef>
#include <string>

namespace omniphi::cli {

// std::getline can't tell whether a line is there already; whoever answers requests as they come has to know.
class LineReader {
 public:
  // Opens `path`; "-" is standard input. Throws kInput naming it.
  LineReader(const std::string& path, size_t max_line_bytes);
  ~LineReader();
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;

  enum class Wait { kForLine, kNever };

  // The next line without its end (LF or CRLF). False at the end of the input, and with kNever also when no whole line
  // has arrived yet. Throws kInput when reading fails and on a line
  // beyond the limit.
  bool next(std::string* line, Wait wait);

 private:
  bool take_line(std::string* line);

  std::string name_;
  size_t max_line_bytes_;
  int descriptor_ = -1;
  bool at_end_ = false;
  std::string buffer_;
  size_t begin_ = 0;     // of the next line in buffer_
  size_t searched_ = 0;  // no line end stands in [begin_, searched_)
};

}  // namespace omniphi::cli

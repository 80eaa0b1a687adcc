// The one exception type that leaves a library function on bad input.
#pragma once

#include <stdexcept>
#include <string>

namespace omniphi {

// What went wrong, as the caller can act on it. exit_code() is the one place that maps kinds to process exit codes.
enum class ErrorKind {
  kInternal,    // a bug in omniphi, or the machine failed (disk, memory)
  kUsage,       // flags or options that contradict each other or don't exist
  kInput,       // a prompt, message list, image, audio or id list that can't be used
  kCheckpoint,  // a model folder that is not exactly understood
};

// An error that says where it is, what was found there, what was expected, and what to do about it.
//   where     the file, field or flag ("config.json: rope_scaling.type")
//   found     what stands there ("\"yarn2\"")
//   expected  what would have been accepted ("\"longrope\"")
//   remedy    what the user can do ("use a released checkpoint"); may be empty
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, std::string where, std::string found, std::string expected = "", std::string remedy = "");

  ErrorKind kind() const { return kind_; }
  const std::string& where() const { return where_; }
  const std::string& found() const { return found_; }
  const std::string& expected() const { return expected_; }
  const std::string& remedy() const { return remedy_; }

 private:
  ErrorKind kind_;
  std::string where_, found_, expected_, remedy_;
};

// Process exit codes: 1 internal, 2 usage, 3 input, 4 checkpoint.
int exit_code(ErrorKind kind);

// "internal", "usage", "input" or "checkpoint".
const char* kind_name(ErrorKind kind);

// For a state that only a bug can reach.
[[noreturn]] void internal_error(const std::string& where, const std::string& found);

}  // namespace omniphi

// Every reason why something is refused, collected so that the user sees all of them at once.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace omniphi {

// One reason: the fields of omniphi::Error.
struct Reason {
  std::string where;
  std::string found;
  std::string expected;
  std::string remedy;

  // "where: found; expected X. remedy"
  std::string to_string() const;
};

// The Error that leaves when there is at least one reason. With a single reason its fields are that reason's; with
// several, where() is the thing refused and found() lists each on a line of its own.
class RefusedError : public Error {
 public:
  RefusedError(ErrorKind kind, const std::string& where, std::vector<Reason> reasons);

  const std::vector<Reason>& reasons() const { return reasons_; }

 private:
  std::vector<Reason> reasons_;
};

// Collects reasons while checking goes on.
class Reasons {
 public:
  void add(std::string where, std::string found, std::string expected, std::string remedy = "");
  // Takes over what `error` says (each reason of a RefusedError).
  void add(const Error& error);

  bool empty() const { return list_.empty(); }
  size_t size() const { return list_.size(); }
  const std::vector<Reason>& list() const { return list_; }

  // Throws RefusedError of `kind` about `where` unless there are no reasons.
  void throw_if_any(ErrorKind kind, const std::string& where) const;

 private:
  std::vector<Reason> list_;
};

}  // namespace omniphi

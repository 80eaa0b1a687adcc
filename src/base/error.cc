#include "base/error.h"

#include <utility>

namespace omniphi {
namespace {

std::string format_message(const std::string& where, const std::string& found, const std::string& expected,
                           const std::string& remedy) {
  std::string text = where;
  text += ": ";
  text += found;
  if (!expected.empty()) text += "; expected " + expected;
  if (!remedy.empty()) text += ". " + remedy;
  return text;
}

}  // namespace

Error::Error(ErrorKind kind, std::string where, std::string found, std::string expected, std::string remedy)
    : std::runtime_error(format_message(where, found, expected, remedy)),
      kind_(kind),
      where_(std::move(where)),
      found_(std::move(found)),
      expected_(std::move(expected)),
      remedy_(std::move(remedy)) {}

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInternal:
      return 1;
    case ErrorKind::kUsage:
      return 2;
    case ErrorKind::kInput:
      return 3;
    case ErrorKind::kCheckpoint:
      return 4;
  }
  return 1;
}

const char* kind_name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kInternal:
      return "internal";
    case ErrorKind::kUsage:
      return "usage";
    case ErrorKind::kInput:
      return "input";
    case ErrorKind::kCheckpoint:
      return "checkpoint";
  }
  return "internal";
}

void internal_error(const std::string& where, const std::string& found) {
  throw Error(ErrorKind::kInternal, where, found, "", "This is a bug in omniphi: please report it.");
}

}  // namespace omniphi

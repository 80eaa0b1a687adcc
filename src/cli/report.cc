#include "cli/report.h"

#include <unistd.h>

#include <iostream>

#include "io/reasons.h"

namespace omniphi::cli {
namespace {

void print_field(std::ostream& err, const char* label, const std::string& text) {
  if (text.empty()) return;
  err << "  " << label;
  for (const char c : text) {
    err << c;
    if (c == '\n') err << "            ";  // further lines stand under the first
  }
  err << "\n";
}

void print_reason(std::ostream& err, const std::string& found, const std::string& expected, const std::string& remedy) {
  print_field(err, "found:    ", found);
  print_field(err, "expected: ", expected);
  print_field(err, "remedy:   ", remedy);
}

}  // namespace

void report_error(const Error& error, std::ostream& err) {
  err << "omniphi: " << kind_name(error.kind()) << " error: " << error.where() << "\n";
  const auto* refused = dynamic_cast<const RefusedError*>(&error);
  if (refused == nullptr || refused->reasons().size() <= 1) {
    print_reason(err, error.found(), error.expected(), error.remedy());
    return;
  }
  for (const Reason& reason : refused->reasons()) {
    err << "- " << reason.where << "\n";
    print_reason(err, reason.found, reason.expected, reason.remedy);
  }
}

void report_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) std::cerr << "omniphi: warning: " << warning << "\n";
}

void report_progress(const std::string& what) {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  if (terminal) std::cerr << "omniphi: " << what << "\n";
}

bool stdout_is_terminal() { return isatty(STDOUT_FILENO) != 0; }

bool stdin_is_terminal() { return isatty(STDIN_FILENO) != 0; }

}  // namespace omniphi::cli

#include "cli/report.h"

#include <unistd.h>

#include <iostream>

#include "base/utf8.h"
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

std::string for_output(std::string_view text) {
  static const bool terminal = stdout_is_terminal();
  if (!terminal) return std::string(text);
  std::string shown;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = read_code_point(text, at);
    const bool control = (point.value < 0x20 && point.value != '\n' && point.value != '\t') ||
                         (point.value >= 0x7f && point.value < 0xa0);
    if (control) {
      shown += "\ufffd";
    } else {
      shown += text.substr(at, point.length);
    }
    at += point.length;
  }
  return shown;
}

}  // namespace omniphi::cli

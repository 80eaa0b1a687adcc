// What the program says on standard error.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace omniphi::cli {

// "omniphi: KIND error: WHERE", then found, expected and remedy on lines of their own; every reason of a RefusedError.
void report_error(const Error& error, std::ostream& err);

// "omniphi: warning: TEXT", a line each, on standard error.
void report_warnings(const std::vector<std::string>& warnings);

// Progress of long work, on standard error, and only when that is a terminal.
void report_progress(const std::string& what);

// Whether a person is looking at standard output / typing into standard input.
bool stdout_is_terminal();
bool stdin_is_terminal();

// Text of the model as it may stand on a terminal: control characters but line feed and tab, which could move the
// cursor or worse, become U+FFFD. Elsewhere the text goes out as it is. `text` is well-formed UTF-8.
std::string for_output(std::string_view text);

}  // namespace omniphi::cli

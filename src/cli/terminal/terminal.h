// The terminal that the program talks to: what it is, how large, and what it says about itself.
#pragma once

#include "cli/terminal/picture_protocol.h"

namespace omniphi::cli {

// Looks at the environment and at standard output. `answers_to_sixel` asks the controlling terminal for its primary
// device attributes (ESC [ c) and waits 100 ms at most; the terminal's modes are as before afterwards. It does not ask
// when the process is in the background.
TerminalFacts terminal_facts();

struct TerminalSize {
  int columns = 80, rows = 24;
  int cell_width = 10, cell_height = 20;  // pixels
};

// Of standard output; the defaults where it doesn't say.
TerminalSize terminal_size();

// Whether an answer to ESC [ c (ESC [ ? 62 ; 4 ; 6 c) names attribute 4, sixel graphics.
bool attributes_name_sixel(const std::string& answer);

}  // namespace omniphi::cli

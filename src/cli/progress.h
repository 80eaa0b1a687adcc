// A line on the terminal that says how far long work is.
#pragma once

#include <cstdint>

#include "runtime/engine.h"

namespace omniphi::cli {

// Tells standard error how far encoding and prefill are, when that is a terminal; empty otherwise. The line is
// rewritten in place and wiped when a phase is done.
ProgressCallback progress_line();

}  // namespace omniphi::cli

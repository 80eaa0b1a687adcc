// A checkpoint as JSON and as a table.
#pragma once

#include <iosfwd>

#include "cli/json_out.h"
#include "models/phi4mm/checkpoint/checkpoint.h"

namespace omniphi::cli {

OrderedJson inspect_json(const phi4mm::Checkpoint& checkpoint);

void print_inspection(const phi4mm::Checkpoint& checkpoint, std::ostream& out);

}  // namespace omniphi::cli

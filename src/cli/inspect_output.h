// A checkpoint as JSON and as a table.
#pragma once

#include <iosfwd>

#include "cli/json_out.h"
#include "models/family/family.h"

namespace omniphi::cli {

OrderedJson inspect_json(const ModelFamily& family, const ModelCheckpoint& checkpoint);

void print_inspection(const ModelFamily& family, const ModelCheckpoint& checkpoint, std::ostream& out);

}  // namespace omniphi::cli

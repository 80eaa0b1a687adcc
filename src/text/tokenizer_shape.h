// The exact shapes of the two kinds of tokenizer.json.
#pragma once

#include "text/tokenizer_field.h"
#include "text/tokenizer_json.h"

namespace omniphi {

// Recognises the kind of the file (everything but its vocabulary and merges), refuses what is not exactly its shape,
// and fills in what the shape leaves open. Throws kCheckpoint.
void read_tokenizer_shape(const Field& root, TokenizerFile* file);

}  // namespace omniphi

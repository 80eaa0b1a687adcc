// A tokenizer that nobody has trained, for checkpoints that nobody has trained.
#pragma once

#include <filesystem>

#include "models/phi4mm/config.h"

namespace omniphi::phi4mm {

// Number of text ids before the special tokens: image_token_id - 12, as in the release (199,998 and 200,010).
int text_ids(const Config& config);

// Writes tokenizer.json, tokenizer_config.json and added_tokens.json into `folder`: a byte-level BPE with the o200k
// splitting pattern, all 256 bytes, and merges of bytes, then of three, in a fixed order that starts with English
// letters, until there are text_ids(config) ids; then the release's special tokens in their places. Lossless for any
// text, with far more tokens than a trained vocabulary makes. Throws an Error of kUsage when the vocabulary is too
// small (256 bytes and the special tokens) or too large.
void write_synthetic_tokenizer(const Config& config, const std::filesystem::path& folder);

}  // namespace omniphi::phi4mm

// A tokenizer that nobody has trained, for checkpoints that nobody has trained.
#pragma once

#include <filesystem>

#include "models/phi3v/config.h"

namespace omniphi::phi3v {

// Number of text ids before the special tokens: 64 less than the vocabulary, as in the release (32,000 of 32,064).
int text_ids(const Config& config);

// Writes tokenizer.json and tokenizer_config.json into `folder`, of the release's form: the three tokens of
// SentencePiece, all 256 bytes, printable ASCII with the mark of a space, and merges of them, of two and then of three
// in a fixed order that starts with English letters, until there are text_ids(config) ids; then the release's special
// tokens in their places. Lossless for any text, with far more tokens than a trained vocabulary makes. Throws an Error
// of kUsage when the vocabulary is too small or too large.
void write_synthetic_tokenizer(const Config& config, const std::filesystem::path& folder);

}  // namespace omniphi::phi3v

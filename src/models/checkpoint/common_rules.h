// Rules that the configurations of all families keep.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "models/checkpoint/object_reader.h"
#include "models/checkpoint/tokenizer_facts.h"

namespace omniphi {

// Largest sizes that are accepted: far above any model of this kind, and small enough that no product overflows.
inline constexpr Range kWidth = {1, 65'536};
inline constexpr Range kBlocks = {1, 256};
inline constexpr Range kHeads = {1, 1'024};
inline constexpr Range kInnerWidth = {1, 1 << 20};
inline constexpr Range kVocabulary = {1, 1 << 22};
inline constexpr Range kPositions = {1, 1 << 24};
inline constexpr Range kAnyInt = {-(int64_t{1} << 31), (int64_t{1} << 31) - 1};

// Keys that transformers writes into every configuration object, none of which changes what a forward pass computes;
// and those of them that would, which must be unset.
void mark_common_keys(ObjectReader& reader);

// `architectures`, when it is there, holds exactly this class.
void check_architecture(ObjectReader& top, const char* name);

// `key`, a positive `value`, must divide `of_value`, which stands under `of_key`. Nothing when either size is unknown
// (0). True when it divides.
bool check_divides(ObjectReader& reader, const char* key, int value, const char* of_key, int of_value);

// An id below `vocab_size` or a list of them; empty when the key is absent, null or refused.
std::vector<int32_t> read_token_ids(ObjectReader& reader, std::string_view key, int vocab_size);

// No token of the tokenizer may have an id beyond the vocabulary; nothing when its size is unknown (0).
void check_token_range(const TokenizerFacts& tokenizer, int vocab_size, ConfigNotes& notes);

// LongRoPE's two lists of `pairs` factors (0: unknown, nothing is read into them), and what may stand beside them and
// must agree with the lengths at the top level. Every other key but those asked for already is refused.
struct LongRopeLists {
  std::vector<double> short_factor, long_factor;
};
LongRopeLists check_longrope_lists(ObjectReader& rope, int pairs, int original_positions, int positions);

}  // namespace omniphi

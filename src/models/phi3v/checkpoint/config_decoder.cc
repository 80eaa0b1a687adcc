#include <algorithm>
#include <string>
#include <utility>

#include "io/json.h"
#include "models/phi3v/checkpoint/config_rules.h"

namespace omniphi::phi3v {
namespace {

using nlohmann::json;

// Both releases hold every size but num_key_value_heads, which may be null for as many as there are heads.
void check_sizes(ObjectReader& top, DecoderConfig& decoder) {
  decoder.vocab_size = top.integer("vocab_size", kVocabulary);
  decoder.hidden_size = top.integer("hidden_size", kWidth);
  decoder.intermediate_size = top.integer("intermediate_size", kInnerWidth);
  decoder.num_layers = top.integer("num_hidden_layers", kBlocks);
  decoder.num_heads = top.integer("num_attention_heads", kHeads);
  const json* kv_heads = top.get("num_key_value_heads");
  const bool as_heads = kv_heads == nullptr || kv_heads->is_null();
  decoder.num_kv_heads = as_heads ? decoder.num_heads : top.integer("num_key_value_heads", kHeads);
  decoder.max_position_embeddings = top.integer("max_position_embeddings", kPositions);
  decoder.original_max_position_embeddings = top.integer("original_max_position_embeddings", kPositions);
  decoder.rms_norm_eps = static_cast<float>(top.positive("rms_norm_eps"));
  decoder.rope_theta = top.positive("rope_theta", 10'000.0);
  check_divides(top, "num_key_value_heads", decoder.num_kv_heads, "num_attention_heads", decoder.num_heads);
  if (!check_divides(top, "num_attention_heads", decoder.num_heads, "hidden_size", decoder.hidden_size)) return;
  const int head_dim = decoder.hidden_size / decoder.num_heads;
  top.must_be("head_dim", head_dim, Presence::kOptional);
  if (head_dim % 2 != 0) {
    top.refuse("num_attention_heads", std::to_string(decoder.num_heads) + ", heads of " + std::to_string(head_dim),
               "heads of an even size: LongRoPE turns pairs");
    return;
  }
  decoder.head_dim = decoder.rotary_dim = head_dim;
}

void check_fixed(ObjectReader& top) {
  check_architecture(top, "Phi3VForCausalLM");
  top.must_be("hidden_act", "silu", Presence::kOptional);
  top.must_be("attention_bias", false, Presence::kOptional);
  top.must_be("mlp_bias", false, Presence::kOptional);
  top.must_be("partial_rotary_factor", 1.0, Presence::kOptional);
  // The publisher's configuration class ties nothing unless told to.
  top.must_be("tie_word_embeddings", false, Presence::kOptional);
  top.inert({"auto_map", "pad_token_id", "embd_pdrop", "resid_pdrop", "attention_dropout", "_flash_attn_2_enabled"});
  // Both releases name </s>, which they never generate: check_generation() has the ids.
  top.inert({"eos_token_id"});
  mark_common_keys(top);
}

// A window of W masks keys more than W positions before the query, so both releases' (131,072 and 262,144) never do.
void check_sliding_window(ObjectReader& top, DecoderConfig& decoder) {
  const json* window = top.get("sliding_window");
  if (window == nullptr || window->is_null()) return;
  const int64_t size = top.integer("sliding_window", {1, kAnyInt.high});
  if (size > 0 && size < int64_t{decoder.max_position_embeddings} - 1) decoder.sliding_window = static_cast<int>(size);
}

void check_rope_kind(ObjectReader& rope) {
  bool any = false;
  for (const char* key : {"type", "rope_type"}) {
    const json* kind = rope.get(key);
    if (kind == nullptr) continue;
    any = true;
    if (*kind == "yarn") {
      rope.refuse(key, "\"yarn\"", "\"su\" or \"longrope\": yarn scales cos and sin otherwise");
    } else if (*kind != "longrope" && *kind != "su") {
      rope.refuse(key, show_json(*kind), "\"su\" or \"longrope\"");
    }
  }
  if (!any) rope.refuse("type", "missing", "\"su\" or \"longrope\"");
}

void check_rope(ObjectReader& top, DecoderConfig& decoder) {
  std::optional<ObjectReader> rope = top.object("rope_scaling", Presence::kRequired);
  if (!rope) return;
  check_rope_kind(*rope);
  LongRopeLists lists = check_longrope_lists(*rope, decoder.head_dim / 2, decoder.original_max_position_embeddings,
                                             decoder.max_position_embeddings);
  decoder.short_factor = std::move(lists.short_factor);
  decoder.long_factor = std::move(lists.long_factor);
  // The factor of cos and sin divides by ln(original_max_position_embeddings).
  if (decoder.original_max_position_embeddings == 1) {
    top.refuse("original_max_position_embeddings", "1", "at least 2: LongRoPE divides by its logarithm");
  }
}

}  // namespace

void check_decoder(ObjectReader& top, Config& config) {
  check_fixed(top);
  check_sizes(top, config.decoder);
  check_sliding_window(top, config.decoder);
  check_rope(top, config.decoder);
}

}  // namespace omniphi::phi3v

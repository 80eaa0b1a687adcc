#include <cmath>
#include <utility>

#include "models/phi4mm/checkpoint/config_rules.h"

namespace omniphi::phi4mm {
namespace {

using nlohmann::json;

// What transformers' Phi4MultimodalConfig fills in for keys that a native config.json leaves out; the original layout
// leaves out none.
struct Defaults {
  std::optional<int> vocab_size, hidden_size, intermediate_size, layers, heads, kv_heads, positions, original_positions;
  std::optional<double> eps, theta, partial_rotary;
};

Defaults defaults_of(Layout layout) {
  Defaults defaults;
  if (layout == Layout::kNative) {
    defaults = {200'064, 3'072, 8'192, 32, 32, 8, 131'072, 4'096, 1e-5, std::nullopt, std::nullopt};
  }
  defaults.theta = 10'000.0;
  defaults.partial_rotary = 1.0;
  return defaults;
}

void check_sizes(ObjectReader& top, const Defaults& defaults, DecoderConfig& decoder) {
  decoder.vocab_size = top.integer("vocab_size", kVocabulary, defaults.vocab_size);
  decoder.hidden_size = top.integer("hidden_size", kWidth, defaults.hidden_size);
  decoder.intermediate_size = top.integer("intermediate_size", kInnerWidth, defaults.intermediate_size);
  decoder.num_layers = top.integer("num_hidden_layers", kBlocks, defaults.layers);
  decoder.num_heads = top.integer("num_attention_heads", kHeads, defaults.heads);
  decoder.num_kv_heads = top.integer("num_key_value_heads", kHeads, defaults.kv_heads);
  decoder.max_position_embeddings = top.integer("max_position_embeddings", kPositions, defaults.positions);
  decoder.original_max_position_embeddings =
      top.integer("original_max_position_embeddings", kPositions, defaults.original_positions);
  decoder.rms_norm_eps = static_cast<float>(top.positive("rms_norm_eps", defaults.eps));
  if (check_divides(top, "num_attention_heads", decoder.num_heads, "hidden_size", decoder.hidden_size)) {
    decoder.head_dim = decoder.hidden_size / decoder.num_heads;
    top.must_be("head_dim", decoder.head_dim, Presence::kOptional);
  }
  check_divides(top, "num_key_value_heads", decoder.num_kv_heads, "num_attention_heads", decoder.num_heads);
}

void check_fixed(ObjectReader& top) {
  top.must_be("hidden_act", "silu", Presence::kOptional);
  top.must_be("attention_bias", false, Presence::kOptional);
  top.must_be("mlp_bias", false, Presence::kOptional);
  top.must_be("lm_head_bias", false, Presence::kOptional);
  top.must_be("full_attn_mod", 1, Presence::kOptional);
  top.must_be("interpolate_factor", 1, Presence::kOptional);
  top.must_be("tie_word_embeddings", true, Presence::kRequired);
  top.must_be_unset("img_processor");
  top.inert({"auto_map", "bos_token_id", "pad_token_id", "embd_pdrop", "resid_pdrop", "attention_dropout",
             "_flash_attn_2_enabled"});
  top.get("model_type");
  top.get("eos_token_id");
  mark_common_keys(top);
}

void check_sliding_window(ObjectReader& top, const DecoderConfig& decoder) {
  const json* window = top.get("sliding_window");
  if (window == nullptr || window->is_null()) return;
  const std::optional<uint64_t> size = natural(*window);
  if (!size || *size < static_cast<uint64_t>(decoder.max_position_embeddings)) {
    top.refuse("sliding_window", show_json(*window),
               "null, or at least max_position_embeddings, " + std::to_string(decoder.max_position_embeddings) +
                   ": no release of this family has one that hides anything");
  }
}

// transformers 5.x keeps rope_theta and partial_rotary_factor inside rope_parameters, older releases at the top level;
// whoever saves both must agree with himself.
double inner_or_outer(ObjectReader& top, ObjectReader* rope, const char* key, std::optional<double> fallback) {
  const double outer = top.positive(key, fallback);
  if (rope == nullptr || !rope->has(key)) return outer;
  const double inner = rope->positive(key);
  if (top.has(key) && inner > 0 && outer > 0 && inner != outer) {
    rope->refuse(key, std::to_string(inner), std::to_string(outer) + ", as at the top level");
  }
  return inner;
}

void check_rotary(ObjectReader& top, ObjectReader* rope, const Defaults& defaults, DecoderConfig& decoder) {
  decoder.rope_theta = inner_or_outer(top, rope, "rope_theta", defaults.theta);
  const double partial = inner_or_outer(top, rope, "partial_rotary_factor", defaults.partial_rotary);
  if (decoder.head_dim == 0 || partial == 0) return;
  const double rotary = std::trunc(decoder.head_dim * partial);
  if (partial > 1 || rotary < 2 || std::fmod(rotary, 2) != 0) {
    top.refuse("partial_rotary_factor",
               json(partial).dump() + " of head size " + std::to_string(decoder.head_dim) + ", " + json(rotary).dump() +
                   " rotary dimensions",
               "an even number of dimensions from 2 to the head size");
    return;
  }
  decoder.rotary_dim = static_cast<int>(rotary);
}

void check_rope_kind(ObjectReader& rope) {
  bool any = false;
  for (const char* key : {"type", "rope_type"}) {
    const json* kind = rope.get(key);
    if (kind == nullptr) continue;
    any = true;
    // "su" and "yarn" are what early releases of the same method called it; a true YaRN has no factor lists and fails.
    if (*kind != "longrope" && *kind != "su" && *kind != "yarn") {
      rope.refuse(key, show_json(*kind), "\"longrope\" (or its old names \"su\" and \"yarn\")");
    }
  }
  if (!any) rope.refuse("type", "missing", "\"longrope\"");
}

void check_rope(ObjectReader& top, const Defaults& defaults, DecoderConfig& decoder) {
  const char* key = top.has("rope_parameters") ? "rope_parameters" : "rope_scaling";
  std::optional<ObjectReader> rope = top.object(key, Presence::kRequired);
  if (top.has("rope_parameters") && top.has("rope_scaling")) {
    top.must_be_unset("rope_scaling");
  }
  check_rotary(top, rope ? &*rope : nullptr, defaults, decoder);
  if (!rope) return;
  check_rope_kind(*rope);
  LongRopeLists lists = check_longrope_lists(*rope, decoder.rotary_dim / 2, decoder.original_max_position_embeddings,
                                             decoder.max_position_embeddings);
  decoder.short_factor = std::move(lists.short_factor);
  decoder.long_factor = std::move(lists.long_factor);
}

}  // namespace

void check_decoder(ObjectReader& top, Layout layout, Config& config, ConfigNotes&) {
  const Defaults defaults = defaults_of(layout);
  check_architecture(top, layout == Layout::kOriginal ? "Phi4MMForCausalLM" : "Phi4MultimodalForCausalLM");
  check_sizes(top, defaults, config.decoder);
  check_fixed(top);
  check_sliding_window(top, config.decoder);
  check_rope(top, defaults, config.decoder);
}

}  // namespace omniphi::phi4mm

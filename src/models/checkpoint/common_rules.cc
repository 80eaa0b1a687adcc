#include "models/checkpoint/common_rules.h"

#include <array>
#include <cmath>
#include <string>

#include "io/json.h"

namespace omniphi {

using nlohmann::json;

void mark_common_keys(ObjectReader& reader) {
  static constexpr std::array kKeys = std::to_array<std::string_view>({"_attn_implementation",
                                                                       "_attn_implementation_autoset",
                                                                       "_attn_implementation_internal",
                                                                       "_commit_hash",
                                                                       "_name_or_path",
                                                                       "_experts_implementation",
                                                                       "add_cross_attention",
                                                                       "attn_implementation",
                                                                       "bad_words_ids",
                                                                       "begin_suppress_tokens",
                                                                       "chunk_size_feed_forward",
                                                                       "cross_attention_hidden_size",
                                                                       "decoder_start_token_id",
                                                                       "diversity_penalty",
                                                                       "do_sample",
                                                                       "dtype",
                                                                       "early_stopping",
                                                                       "encoder_no_repeat_ngram_size",
                                                                       "exponential_decay_length_penalty",
                                                                       "finetuning_task",
                                                                       "forced_bos_token_id",
                                                                       "forced_eos_token_id",
                                                                       "id2label",
                                                                       "initializer_range",
                                                                       "is_decoder",
                                                                       "is_encoder_decoder",
                                                                       "label2id",
                                                                       "length_penalty",
                                                                       "max_length",
                                                                       "min_length",
                                                                       "no_repeat_ngram_size",
                                                                       "num_beam_groups",
                                                                       "num_beams",
                                                                       "num_return_sequences",
                                                                       "output_attentions",
                                                                       "output_hidden_states",
                                                                       "output_scores",
                                                                       "prefix",
                                                                       "problem_type",
                                                                       "remove_invalid_values",
                                                                       "repetition_penalty",
                                                                       "return_dict",
                                                                       "return_dict_in_generate",
                                                                       "sep_token_id",
                                                                       "suppress_tokens",
                                                                       "task_specific_params",
                                                                       "temperature",
                                                                       "tf_legacy_loss",
                                                                       "tie_encoder_decoder",
                                                                       "tokenizer_class",
                                                                       "top_k",
                                                                       "top_p",
                                                                       "torch_dtype",
                                                                       "torchscript",
                                                                       "transformers_version",
                                                                       "typical_p",
                                                                       "use_bfloat16",
                                                                       "use_cache"});
  reader.inert_all(kKeys);
  reader.must_be_unset("pruned_heads");
  reader.must_be_unset("quantization_config");
}

void check_architecture(ObjectReader& top, const char* name) {
  const json* value = top.get("architectures");
  if (value == nullptr || value->is_null()) return;
  if (*value != json::array({name})) {
    top.refuse("architectures", show_json(*value), json::array({name}).dump());
  }
}

bool check_divides(ObjectReader& reader, const char* key, int value, const char* of_key, int of_value) {
  if (value <= 0 || of_value <= 0) return false;
  if (of_value % value == 0) return true;
  reader.refuse(key, std::to_string(value), std::string("a divisor of ") + of_key + ", " + std::to_string(of_value));
  return false;
}

std::vector<int32_t> read_token_ids(ObjectReader& reader, std::string_view key, int vocab_size) {
  const json* value = reader.get(key);
  std::vector<int32_t> ids;
  if (value == nullptr || value->is_null()) return ids;
  const json list = value->is_array() ? *value : json::array({*value});
  for (const json& id : list) {
    const std::optional<uint64_t> value_of_id = natural(id);
    if (!value_of_id || *value_of_id >= static_cast<uint64_t>(vocab_size)) {
      reader.refuse(key, show_json(*value), "ids below the vocabulary's size, " + std::to_string(vocab_size));
      return {};
    }
    ids.push_back(static_cast<int32_t>(*value_of_id));
  }
  return ids;
}

void check_token_range(const TokenizerFacts& tokenizer, int vocab_size, ConfigNotes& notes) {
  if (vocab_size <= 0 || tokenizer.max_id < vocab_size) return;
  notes.reasons.add("tokenizer.json",
                    "the token " + show_text(tokenizer.max_token) + " with the id " + std::to_string(tokenizer.max_id),
                    "ids below vocab_size, " + std::to_string(vocab_size));
}

LongRopeLists check_longrope_lists(ObjectReader& rope, int pairs, int original_positions, int positions) {
  LongRopeLists lists;
  if (pairs > 0) {
    lists.short_factor = rope.positive_list("short_factor", pairs);
    lists.long_factor = rope.positive_list("long_factor", pairs);
  } else {
    rope.get("short_factor");
    rope.get("long_factor");
  }
  if (original_positions > 0) {
    rope.must_be("original_max_position_embeddings", original_positions, Presence::kOptional);
    if (rope.has("factor")) {
      const double ratio = static_cast<double>(positions) / original_positions;
      const double factor = rope.positive("factor");
      if (factor > 0 && std::abs(factor - ratio) > 1e-6 * ratio) {
        rope.refuse("factor", json(factor).dump(),
                    json(ratio).dump() + ", max_position_embeddings / original_max_position_embeddings");
      }
    }
  }
  rope.finish(Unknown::kRefuse);
  return lists;
}

}  // namespace omniphi

#include "models/phi4mm/checkpoint/config_rules.h"

#include <algorithm>

namespace omniphi::phi4mm {
namespace {

using nlohmann::json;

void check_generation(const ConfigSources& sources, Config& config, ConfigNotes& notes) {
  if (config.decoder.vocab_size == 0) return;
  ObjectReader top(sources.config, "config.json", "", notes);
  std::vector<int32_t> ids = read_token_ids(top, "eos_token_id", config.decoder.vocab_size);
  if (sources.generation) {
    ObjectReader generation(*sources.generation, "generation_config.json", "", notes);
    const std::vector<int32_t> own = read_token_ids(generation, "eos_token_id", config.decoder.vocab_size);
    if (!own.empty()) ids = own;
  }
  if (ids.empty()) {
    top.refuse("eos_token_id", "no id here or in generation_config.json", "at least one id that ends generation");
  }
  config.eos_token_ids = std::move(ids);
}

// The front end's constants: what omniphi computes is exactly this.
void check_audio_constants(ObjectReader& reader) {
  reader.must_be("audio_compression_rate", 8, Presence::kOptional);
  reader.must_be("audio_downsample_rate", 1, Presence::kOptional);
  reader.must_be("audio_feat_stride", 1, Presence::kOptional);
  reader.must_be("feature_size", 80, Presence::kOptional);
  reader.must_be("sampling_rate", 16'000, Presence::kOptional);
  reader.must_be("hop_length", 160, Presence::kOptional);
  reader.must_be("win_length", 400, Presence::kOptional);
  reader.must_be("n_fft", 512, Presence::kOptional);
  reader.must_be("preemphasis", 0.97, Presence::kOptional);
  reader.must_be("padding_value", 0.0, Presence::kOptional);
}

void check_image_constants(ObjectReader& reader, Config& config) {
  config.vision.max_crops = reader.integer("dynamic_hd", {1, 4096}, config.vision.max_crops);
  reader.must_be("patch_size", 14, Presence::kOptional);
  const json half = json::array({0.5, 0.5, 0.5});
  reader.must_be("image_mean", half, Presence::kOptional);
  reader.must_be("image_std", half, Presence::kOptional);
  reader.must_be("size", {{"height", 448}, {"width", 448}}, Presence::kOptional);
}

}  // namespace

std::optional<Layout> read_layout(const json& config, ConfigNotes& notes) {
  ObjectReader top(config, "config.json", "", notes);
  if (!config.is_object()) return std::nullopt;
  const json* type = top.get("model_type");
  if (type != nullptr && *type == "phi4mm") return Layout::kOriginal;
  if (type != nullptr && *type == "phi4_multimodal") return Layout::kNative;
  top.refuse("model_type", type == nullptr ? "missing" : show_json(*type), "\"phi4mm\" or \"phi4_multimodal\"",
             "omniphi runs Phi-4-multimodal only.");
  return std::nullopt;
}

void check_side_files(const ConfigSources& sources, Config& config, ConfigNotes& notes) {
  check_generation(sources, config, notes);
  if (!sources.preprocessor && !sources.processor) {
    notes.warnings.push_back("preprocessor_config.json: missing, so images take up to " +
                             std::to_string(config.vision.max_crops) + " crops");
  }
  if (sources.preprocessor) {
    ObjectReader reader(*sources.preprocessor, "preprocessor_config.json", "", notes);
    check_image_constants(reader, config);
    check_audio_constants(reader);
  }
  if (sources.processor) {  // transformers 5.x keeps each processor's values in an object of its own
    ObjectReader reader(*sources.processor, "processor_config.json", "", notes);
    if (auto image = reader.object("image_processor", Presence::kOptional)) check_image_constants(*image, config);
    for (const char* key : {"audio_processor", "feature_extractor"}) {
      if (auto audio = reader.object(key, Presence::kOptional)) check_audio_constants(*audio);
    }
  }
}

void check_tokenizer(const TokenizerFacts& tokenizer, Config& config, ConfigNotes& notes) {
  const int vocab_size = config.decoder.vocab_size;
  check_token_range(tokenizer, vocab_size, notes);
  const auto check_medium = [&](const char* token, int32_t& id, const char* key) {
    const auto found = tokenizer.added.find(token);
    if (found == tokenizer.added.end()) {
      notes.reasons.add("tokenizer.json: added_tokens", std::string("no ") + token,
                        std::string("the token ") + token + ", which stands for a medium");
      return;
    }
    if (id >= 0 && id != found->second) {
      notes.reasons.add(std::string("config.json: ") + key, std::to_string(id),
                        std::to_string(found->second) + ", the id of " + token + " in tokenizer.json");
    }
    if (found->second < vocab_size) id = static_cast<int32_t>(found->second);
  };
  check_medium("<|endoftext10|>", config.image_token_id, "vision_config.image_token_id");
  check_medium("<|endoftext11|>", config.audio_token_id, "audio_config.audio_token_id");
}

Config check_config(const ConfigSources& sources, Layout layout, ConfigNotes& notes) {
  Config config;
  // Unknown until a file tells; the released ids stand in when none does.
  config.image_token_id = -1;
  config.audio_token_id = -1;
  ObjectReader top(sources.config, "config.json", "", notes);
  check_decoder(top, layout, config, notes);
  if (layout == Layout::kOriginal) {
    check_original_media(top, sources, config, notes);
  } else {
    check_native_media(top, sources, config, notes);
  }
  check_side_files(sources, config, notes);
  if (sources.tokenizer) check_tokenizer(*sources.tokenizer, config, notes);
  if (config.image_token_id < 0) config.image_token_id = 200'010;
  if (config.audio_token_id < 0) config.audio_token_id = 200'011;
  if (config.image_token_id == config.audio_token_id) {
    notes.reasons.add("config.json", "one id for images and audio, " + std::to_string(config.image_token_id),
                      "two ids");
  }
  if (config.decoder.vocab_size > 0 &&
      std::max(config.image_token_id, config.audio_token_id) >= config.decoder.vocab_size && !sources.tokenizer) {
    notes.reasons.add("config.json: vocab_size", std::to_string(config.decoder.vocab_size),
                      "more than the ids of the media tokens, " + std::to_string(config.image_token_id) + " and " +
                          std::to_string(config.audio_token_id));
  }
  return config;
}

}  // namespace omniphi::phi4mm

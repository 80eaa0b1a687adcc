#include "models/phi3v/checkpoint/config_rules.h"

#include <string>

#include "io/json.h"

namespace omniphi::phi3v {
namespace {

using nlohmann::json;

constexpr int32_t kReleasedEnd = 32'007;        // <|end|>
constexpr int32_t kReleasedEndOfText = 32'000;  // <|endoftext|>

void check_embd_layer(ObjectReader& top) {
  std::optional<ObjectReader> layer = top.object("embd_layer", Presence::kRequired);
  if (!layer) return;
  // All required: the publisher's code takes other values for absent ones.
  layer->must_be("embedding_cls", "image", Presence::kRequired);
  layer->must_be("projection_cls", "mlp", Presence::kRequired);
  layer->must_be("use_hd_transform", true, Presence::kRequired);
  layer->must_be("with_learnable_separator", true, Presence::kRequired);
  layer->must_be("hd_transform_order", "sub_glb", Presence::kRequired);
  layer->inert({"enable_gradient_checkpointing"});
  layer->finish(Unknown::kRefuse);
}

// Sizes of a tower that isn't the released one; no release has this entry.
void check_clip_config(ObjectReader& clip, VisionConfig& vision) {
  vision.hidden_size = clip.integer("hidden_size", kWidth, vision.hidden_size);
  vision.intermediate_size = clip.integer("intermediate_size", kInnerWidth, vision.intermediate_size);
  vision.num_layers = clip.integer("num_hidden_layers", {2, kBlocks.high}, vision.num_layers);
  vision.num_heads = clip.integer("num_attention_heads", kHeads, vision.num_heads);
  vision.layer_norm_eps = static_cast<float>(clip.positive("layer_norm_eps", 1e-5));
  check_divides(clip, "num_attention_heads", vision.num_heads, "hidden_size", vision.hidden_size);
  clip.must_be("image_size", 336, Presence::kOptional);
  clip.must_be("patch_size", 14, Presence::kOptional);
  clip.must_be("num_channels", 3, Presence::kOptional);
  clip.must_be("hidden_act", "quick_gelu", Presence::kOptional);
  clip.finish(Unknown::kRefuse);
}

void check_img_processor(ObjectReader& top, VisionConfig& vision) {
  std::optional<ObjectReader> image = top.object("img_processor", Presence::kRequired);
  if (!image) return;
  image->must_be("name", "clip_vision_model", Presence::kRequired);
  image->must_be("model_name", "openai/clip-vit-large-patch14-336", Presence::kRequired);
  image->must_be("num_img_tokens", 144, Presence::kRequired);
  image->must_be("layer_idx", -2, Presence::kOptional);
  image->must_be("type_feature", "patch", Presence::kOptional);
  if (auto clip = image->object("clip_config", Presence::kOptional)) check_clip_config(*clip, vision);
  if (vision.hidden_size > 0) {
    image->must_be("image_dim_out", vision.hidden_size, Presence::kRequired);
  } else {
    image->get("image_dim_out");
  }
  image->finish(Unknown::kRefuse);
}

// The ids of <|end|> and <|endoftext|>, by the tokenizer or as released.
std::vector<int32_t> default_ends(const FolderFiles& files, int vocab_size) {
  std::vector<int32_t> ids;
  for (const auto& [token, released] :
       {std::pair("<|end|>", kReleasedEnd), std::pair("<|endoftext|>", kReleasedEndOfText)}) {
    int64_t id = released;
    if (files.tokenizer) {
      const auto found = files.tokenizer->added.find(token);
      if (found == files.tokenizer->added.end()) continue;
      id = found->second;
    }
    if (id >= 0 && id < vocab_size) ids.push_back(static_cast<int32_t>(id));
  }
  return ids;
}

}  // namespace

void check_vision(ObjectReader& top, Config& config) {
  check_embd_layer(top);
  check_img_processor(top, config.vision);
  top.finish(Unknown::kWarn);
}

void check_preprocessor(const FolderFiles& files, Config& config, ConfigNotes& notes) {
  if (!files.preprocessor) {
    notes.warnings.push_back("preprocessor_config.json: missing, so images take " +
                             std::to_string(config.vision.max_crops) + " crop");
    return;
  }
  ObjectReader reader(*files.preprocessor, "preprocessor_config.json", "", notes);
  config.vision.max_crops = reader.integer("num_crops", {1, 16}, config.vision.max_crops);
  reader.must_be("num_img_tokens", 144, Presence::kOptional);
  reader.must_be("image_mean", json::array({0.48145466, 0.4578275, 0.40821073}), Presence::kOptional);
  reader.must_be("image_std", json::array({0.26862954, 0.26130258, 0.27577711}), Presence::kOptional);
  reader.must_be("do_convert_rgb", true, Presence::kOptional);
  reader.inert({"auto_map", "image_processor_type", "processor_class", "feature_extractor_type"});
  reader.finish(Unknown::kWarn);
}

void check_generation(const FolderFiles& files, Config& config, ConfigNotes& notes) {
  const int vocab_size = config.decoder.vocab_size;
  if (vocab_size == 0) return;
  if (files.generation) {
    ObjectReader generation(*files.generation, "generation_config.json", "", notes);
    const size_t reasons = notes.reasons.size();
    config.eos_token_ids = read_token_ids(generation, "eos_token_id", vocab_size);
    if (notes.reasons.size() > reasons) return;
  }
  if (config.eos_token_ids.empty()) config.eos_token_ids = default_ends(files, vocab_size);
  if (config.eos_token_ids.empty()) {
    notes.reasons.add("generation_config.json: eos_token_id", "no id here, and no <|end|> within the vocabulary",
                      "at least one id that ends generation");
  }
}

void check_tokenizer(const TokenizerFacts& tokenizer, ObjectReader& top, Config& config, ConfigNotes& notes) {
  check_token_range(tokenizer, config.decoder.vocab_size, notes);
  for (const char* token : {"<s>", "<|user|>", "<|assistant|>", "<|end|>"}) {
    if (tokenizer.added.contains(token)) continue;
    notes.reasons.add("tokenizer.json: added_tokens", std::string("no ") + token,
                      std::string("the token ") + token + ", which every prompt has");
  }
  const auto begin = tokenizer.added.find("<s>");
  if (begin == tokenizer.added.end()) return;
  if (top.has("bos_token_id") && config.bos_token_id != begin->second) {
    top.refuse("bos_token_id", std::to_string(config.bos_token_id),
               std::to_string(begin->second) + ", the id of <s> in tokenizer.json");
  }
  if (begin->second < config.decoder.vocab_size) config.bos_token_id = static_cast<int32_t>(begin->second);
}

Config check_config(const FolderFiles& files, ConfigNotes& notes) {
  Config config;
  config.vision = kClipVision;
  config.bos_token_id = 1;
  ObjectReader top(files.config, "config.json", "", notes);
  if (!files.config.is_object()) return config;
  const size_t reasons = notes.reasons.size();
  top.must_be("model_type", "phi3_v", Presence::kRequired);
  if (notes.reasons.size() > reasons) return config;  // another model: all else would be noise
  check_decoder(top, config);
  config.bos_token_id = top.integer("bos_token_id", {0, kVocabulary.high}, 1);
  check_vision(top, config);
  check_preprocessor(files, config, notes);
  check_generation(files, config, notes);
  if (files.tokenizer) check_tokenizer(*files.tokenizer, top, config, notes);
  return config;
}

}  // namespace omniphi::phi3v

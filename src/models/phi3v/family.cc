#include "models/phi3v/family.h"

#include "models/phi3v/checkpoint/checkpoint.h"
#include "models/phi3v/checkpoint/synth.h"
#include "models/phi3v/model.h"
#include "models/phi3v/processor/processor.h"

namespace omniphi::phi3v {
namespace {

SynthSummary synthesize_preset(const SynthRequest& request, const std::filesystem::path& folder) {
  return synthesize(preset_config(request.preset), folder, request.files);
}

// The checkpoint's own number is a default, not a limit.
int max_crops(const ModelConfig&) { return kMaxCropsLimit; }

// The narrowest grid has the most separators: one column of crops, rows of 12 cells and a separator.
int64_t most_image_tokens(int max_crops) {
  constexpr int64_t kRowTokens = kCropCells + 1;
  return kRowTokens * kCropCells * max_crops + 1 + kRowTokens * kCropCells;
}

ModelFamily make_family() {
  ModelFamily family{};
  family.title = "Phi-3.5-vision";
  family.vision_tower = "CLIP";
  family.model_types = {"phi3_v"};
  family.presets = {"phi3.5v", "tiny-phi3v"};
  family.layouts = {"original"};
  family.prompts = &kPhi3vPrompts;
  family.open_config = open_config;
  family.open = open_checkpoint<Checkpoint>;
  family.bind = bind_model<Model>;
  family.preset = preset_config;
  family.expected_tensors = expected_tensors;
  family.synthesize = synthesize_preset;
  family.max_crops = max_crops;
  family.image_layout = image_layout;
  family.most_image_tokens = most_image_tokens;
  family.process_image = process_image;
  family.merged_features = 4;  // 2x2 neighbours
  family.advised_single_image_crops = 16;
  family.build_input = build_input;
  family.check_slots = check_slots;
  return family;
}

}  // namespace

const ModelFamily& family() {
  static const ModelFamily kFamily = make_family();
  return kFamily;
}

}  // namespace omniphi::phi3v

#include "models/phi4mm/family.h"

#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/checkpoint/synth.h"
#include "models/phi4mm/model.h"
#include "models/phi4mm/processor/processor.h"

namespace omniphi::phi4mm {
namespace {

constexpr std::string_view kOriginalLayout = "original", kNativeLayout = "native";

SynthSummary synthesize_preset(const SynthRequest& request, const std::filesystem::path& folder) {
  SynthOptions options;
  static_cast<SynthFileOptions&>(options) = request.files;
  options.layout = request.layout == kNativeLayout ? Layout::kNative : Layout::kOriginal;
  return synthesize(preset_config(request.preset), folder, options);
}

int max_crops(const ModelConfig& config) { return config.vision.max_crops; }

// A row of crops costs a separator a row: the narrowest grid is the dearest. rows * (columns + 1) + 1 + 16 * 17 with
// one column of crops.
int64_t most_image_tokens(int max_crops) { return int64_t{16} * max_crops * 17 + 1 + 16 * 17; }

AudioInput process(const AudioRequest& request) {
  AudioProcessorOptions options;
  options.reference_media = request.reference_media;
  options.decode.max_bytes = request.max_bytes;
  return process_audio(request.bytes, request.name, options);
}

ModelFamily make_family() {
  ModelFamily family{};
  family.title = "Phi-4-multimodal";
  family.vision_tower = "SigLIP";
  family.model_types = {"phi4mm", "phi4_multimodal"};
  family.presets = {"phi4mm", "tiny"};
  family.layouts = {kOriginalLayout, kNativeLayout};
  family.prompts = &kPhi4mmPrompts;
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
  family.merged_features = 1;  // pooled
  family.process_audio = process;
  family.audio_tokens = audio_token_count_for_seconds;
  family.build_input = build_input;
  family.check_slots = check_slots;
  return family;
}

}  // namespace

const ModelFamily& family() {
  static const ModelFamily kFamily = make_family();
  return kFamily;
}

}  // namespace omniphi::phi4mm

// What the engine and the command line ask of a model family. A family fills in one constant of this type;
// models/registry lists them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "media/image.h"
#include "models/causal_model.h"
#include "models/checkpoint/folder_files.h"
#include "models/checkpoint/model_checkpoint.h"
#include "models/checkpoint/synth_files.h"
#include "models/checkpoint/tensor_list.h"
#include "models/config.h"
#include "models/model_input.h"
#include "text/prompt_style.h"

namespace omniphi {

// Decodes and processes one audio file. `reference_media`: resample as the reference does.
struct AudioRequest {
  std::string_view bytes;
  std::string name;
  bool reference_media = false;
  size_t max_bytes = 0;  // the largest file that is read
};

// A checkpoint that nobody has trained, of a preset's sizes.
struct SynthRequest {
  std::string preset;
  std::string layout;  // one of the family's `layouts`
  SynthFileOptions files;
};

struct ModelFamily {
  const char* title;                          // "Phi-4-multimodal"
  const char* vision_tower;                   // "SigLIP"
  std::vector<std::string_view> model_types;  // of config.json
  std::vector<std::string_view> presets;      // built-in configurations, the release first
  std::vector<std::string_view> layouts;      // how checkpoints name their weights, the release's own first
  const PromptStyle* prompts;

  // --- configuration and weights. Throw RefusedError with every reason why a folder can't be used.
  ConfigReport (*open_config)(const std::filesystem::path& folder);
  std::shared_ptr<const ModelCheckpoint> (*open)(const std::filesystem::path& folder, const OpenOptions& options);
  // Binds the layers to the checkpoint's tensors; reads no weights. The checkpoint must outlive the model.
  std::unique_ptr<CausalModel> (*bind)(const ModelCheckpoint& checkpoint);
  // Throws kUsage for a name that isn't among `presets`.
  ModelConfig (*preset)(const std::string& name);
  std::vector<ExpectedTensor> (*expected_tensors)(const ModelConfig& config);
  // Throws kUsage when the folder isn't empty or an option is out of range.
  SynthSummary (*synthesize)(const SynthRequest& request, const std::filesystem::path& folder);

  // --- media
  // The most local crops that a request may ask for.
  int (*max_crops)(const ModelConfig& config);
  // What an image of a size costs at most so many local crops. Throws kInput naming the image, kUsage for the crops.
  ImageLayout (*image_layout)(int64_t width, int64_t height, int max_crops, const std::string& name);
  // The publisher's advice for a prompt with one image; 0: none.
  int advised_single_image_crops;
  // Tokens that no image exceeds.
  int64_t (*most_image_tokens)(int max_crops);
  ImageInput (*process_image)(const Image& image, int max_crops, const std::string& name);
  // Features of the tower that stand side by side in a row of the projector's input.
  int merged_features;
  // Audio; null in a family that hears nothing.
  AudioInput (*process_audio)(const AudioRequest& request);
  int64_t (*audio_tokens)(double seconds);

  // Expands the one id of every medium in a prompt. Throws kInput when ids and media don't fit.
  ModelInput (*build_input)(const ModelConfig& config, const std::vector<int32_t>& ids, std::vector<ImageInput> images,
                            std::vector<AudioInput> audios);
  // The same question before any medium is read: throws kInput when so many don't fit the ids.
  void (*check_slots)(const ModelConfig& config, const std::vector<int32_t>& ids, size_t images, size_t audios);
};

// `open` and `bind` of a family whose own types are these.
template <typename Checkpoint>
std::shared_ptr<const ModelCheckpoint> open_checkpoint(const std::filesystem::path& folder,
                                                       const OpenOptions& options) {
  return std::make_shared<const Checkpoint>(Checkpoint::open(folder, options));
}
template <typename Model>
std::unique_ptr<CausalModel> bind_model(const ModelCheckpoint& checkpoint) {
  return std::make_unique<Model>(checkpoint);
}

}  // namespace omniphi

#include "cli/processed_tensors.h"

#include <algorithm>

namespace omniphi::cli {
namespace {

constexpr int64_t kPatchSize = 14;  // of every tower

template <typename T>
NamedView named(const char* name, DType dtype, const std::vector<T>& data, Shape shape) {
  return {name, View{data.data(), dtype, std::move(shape)}};
}

}  // namespace

ProcessedTensors::ProcessedTensors(const ModelInput& input) : ids_(input.ids) {
  add_images(input.images);
  add_audios(input.audios);
}

void ProcessedTensors::add_images(const std::vector<ImageInput>& images) {
  images_ = static_cast<int64_t>(images.size());
  for (const ImageInput& image : images) {
    crops_ = std::max<int64_t>(crops_, image.layout.crops);
    side_ = image.pixel_values.shape[3];
    if (!image.patch_mask.empty()) patches_ = side_ / kPatchSize;
  }
  for (const ImageInput& image : images) {
    const auto unused = static_cast<size_t>(crops_ - image.layout.crops);
    pixels_.insert(pixels_.end(), image.pixel_values.data.begin(), image.pixel_values.data.end());
    pixels_.insert(pixels_.end(), unused * static_cast<size_t>(3 * side_ * side_), 0.0f);
    patch_mask_.insert(patch_mask_.end(), image.patch_mask.begin(), image.patch_mask.end());
    patch_mask_.insert(patch_mask_.end(), unused * static_cast<size_t>(patches_ * patches_), uint8_t{1});
    image_sizes_.push_back(image.layout.padded_height);
    image_sizes_.push_back(image.layout.padded_width);
    image_tokens_.push_back(image.num_tokens());
  }
}

void ProcessedTensors::add_audios(const std::vector<AudioInput>& audios) {
  audios_ = static_cast<int64_t>(audios.size());
  for (const AudioInput& audio : audios) {
    frames_ = std::max(frames_, audio.features.shape[0]);
    mel_ = audio.features.shape[1];
  }
  for (const AudioInput& audio : audios) {
    const int64_t frames = audio.features.shape[0];
    features_.insert(features_.end(), audio.features.data.begin(), audio.features.data.end());
    features_.insert(features_.end(), static_cast<size_t>((frames_ - frames) * mel_), 0.0f);
    frame_mask_.insert(frame_mask_.end(), static_cast<size_t>(frames), uint8_t{1});
    frame_mask_.insert(frame_mask_.end(), static_cast<size_t>(frames_ - frames), uint8_t{0});
    audio_tokens_.push_back(static_cast<int32_t>(audio.num_tokens));
  }
}

std::vector<NamedView> ProcessedTensors::views() const {
  std::vector<NamedView> views;
  views.push_back(named("input_ids", DType::kI32, ids_, Shape{static_cast<int64_t>(ids_.size())}));
  if (images_ > 0) {
    views.push_back(named("pixel_values", DType::kF32, pixels_, Shape{images_, crops_, 3, side_, side_}));
    if (patches_ > 0) {
      views.push_back(
          named("image_attention_mask", DType::kU8, patch_mask_, Shape{images_, crops_, patches_, patches_}));
    }
    views.push_back(named("image_sizes", DType::kI32, image_sizes_, Shape{images_, 2}));
    views.push_back(named("num_img_tokens", DType::kI32, image_tokens_, Shape{images_}));
  }
  if (audios_ > 0) {
    views.push_back(named("audio_features", DType::kF32, features_, Shape{audios_, frames_, mel_}));
    if (audios_ > 1) {
      views.push_back(named("audio_attention_mask", DType::kU8, frame_mask_, Shape{audios_, frames_}));
    }
    views.push_back(named("audio_embed_sizes", DType::kI32, audio_tokens_, Shape{audios_}));
  }
  return views;
}

}  // namespace omniphi::cli

#include "models/phi4mm/model.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "models/phi4mm/bind.h"

namespace omniphi::phi4mm {
namespace {

constexpr const char* kImage = "model.embed_tokens_extend.image_embed.";
constexpr const char* kAudio = "model.embed_tokens_extend.audio_embed.";

// Writes rows of `width` floats one behind the other.
class RowWriter {
 public:
  RowWriter(float* at, int64_t width) : at_(at), width_(width) {}
  void rows(const float* from, int64_t count) {
    std::memcpy(at_, from, sizeof(float) * static_cast<size_t>(count * width_));
    at_ += count * width_;
  }

 private:
  float* at_;
  int64_t width_;
};

// The sequence that goes through the projector: the local crops as one map, each row of it closed by sub_GN; then
// glb_GN; then the global view's rows, closed likewise ("sub_glb").
//   pooled [crops, side * side, width]; crop 0 is the global view
void assemble_hd_sequence(const ImageLayout& layout, const float* pooled, int side, const float* sub_gn,
                          const float* glb_gn, int64_t width, float* sequence) {
  RowWriter out(sequence, width);
  const int rows = (layout.valid_rows + 1) / 2, cols = (layout.valid_cols + 1) / 2;
  const int64_t crop_size = int64_t{side} * side * width;
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; c += side) {
      const int64_t crop = 1 + int64_t{r / side} * layout.grid_cols + c / side;
      out.rows(pooled + crop * crop_size + int64_t{r % side} * side * width, std::min(side, cols - c));
    }
    out.rows(sub_gn, 1);
  }
  out.rows(glb_gn, 1);
  for (int r = 0; r < side; ++r) {
    out.rows(pooled + int64_t{r} * side * width, side);
    out.rows(sub_gn, 1);
  }
}

}  // namespace

Model::Model(const ModelCheckpoint& checkpoint)
    : CausalModel(checkpoint.config(), bind_decoder(checkpoint)),
      siglip_(bind_siglip(checkpoint)),
      image_projection_(bind_projector(checkpoint, std::string(kImage) + "img_projection")),
      sub_gn_(bind_weight(checkpoint, std::string(kImage) + "sub_GN")),
      glb_gn_(bind_weight(checkpoint, std::string(kImage) + "glb_GN")),
      conformer_(bind_conformer(checkpoint)),
      audio_projection_speech_(bind_projector(checkpoint, std::string(kAudio) + "audio_projection.speech")),
      audio_projection_vision_(bind_projector(checkpoint, std::string(kAudio) + "audio_projection.vision")) {}

int Model::adapter(InputMode mode) const { return static_cast<int>(adapter_of(mode)) - 1; }

Tensor Model::encode_image(const KernelContext& ctx, const ImageInput& image, size_t index, Trace* trace) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t width = siglip_.width;
  const int64_t crops = image.layout.crops;
  const int64_t patches = int64_t{siglip_.grid()} * siglip_.grid();
  const int64_t crop_pixels = int64_t{3} * siglip_.image_size * siglip_.image_size;
  const int64_t pooled_size = siglip_.pooled_tokens() * width;
  float* pooled = ctx.workspace->take<float>(static_cast<size_t>(crops * pooled_size));  // [crops, 256, width]
  for (int64_t crop = 0; crop < crops; ++crop) {
    siglip_.forward(ctx, image.pixel_values.data.data() + crop * crop_pixels, image.patch_mask.data() + crop * patches,
                    pooled + crop * pooled_size, trace);
  }
  const int64_t tokens = image.num_tokens();
  float* sequence = ctx.workspace->take<float>(static_cast<size_t>(tokens * width));  // [tokens, width]
  assemble_hd_sequence(image.layout, pooled, siglip_.grid() / 2, widen_row(ctx, sub_gn_, width),
                       widen_row(ctx, glb_gn_, width), width, sequence);
  if (trace != nullptr) trace->stage("vision.hd_sequence." + std::to_string(index), sequence, Shape{tokens, width});
  Tensor projected(Shape{tokens, decoder().shape.hidden});
  image_projection_.forward(ctx, sequence, tokens, projected.data.data());
  if (trace != nullptr)
    trace->stage("vision.projected." + std::to_string(index), projected.data.data(), projected.shape);
  return projected;
}

Tensor Model::encode_audio(const KernelContext& ctx, const AudioInput& audio, InputMode mode, Trace* trace) const {
  const Workspace::Mark mark(*ctx.workspace);
  const int64_t tokens = audio.num_tokens;
  float* encoded = ctx.workspace->take<float>(static_cast<size_t>(tokens * conformer_.width));  // [tokens, width]
  conformer_.forward(ctx, audio.features.data.data(), audio.features.shape[0], encoded, trace);
  const MlpProjector& projection =
      mode == InputMode::kVisionSpeech ? audio_projection_vision_ : audio_projection_speech_;
  Tensor projected(Shape{tokens, decoder().shape.hidden});
  projection.forward(ctx, encoded, tokens, projected.data.data());
  if (trace != nullptr) trace->stage("audio.projected", projected.data.data(), Shape{1, tokens, projected.shape[1]});
  return projected;
}

}  // namespace omniphi::phi4mm

#include "models/phi3v/model.h"

#include "base/error.h"
#include "models/phi3v/bind.h"

namespace omniphi::phi3v {

Model::Model(const ModelCheckpoint& checkpoint)
    : CausalModel(checkpoint.config(), bind_decoder(checkpoint)), image_embed_(bind_image_embed(checkpoint)) {}

int Model::adapter(InputMode) const { return -1; }

Tensor Model::encode_image(const KernelContext& ctx, const ImageInput& image, size_t, Trace* trace) const {
  return image_embed_.encode(ctx, image, trace);
}

Tensor Model::encode_audio(const KernelContext&, const AudioInput&, InputMode, Trace*) const {
  internal_error("Phi-3.5-vision", "an audio came past the processor");
}

}  // namespace omniphi::phi3v

// Phi-3-vision and Phi-3.5-vision: vision tower, projector and decoder over one checkpoint's mapped weights.
#pragma once

#include "models/causal_model.h"
#include "models/checkpoint/model_checkpoint.h"
#include "models/phi3v/image_embed.h"

namespace omniphi::phi3v {

class Model final : public CausalModel {
 public:
  // Binds the layers to the checkpoint's tensors; reads no weights. The checkpoint must outlive the model.
  explicit Model(const ModelCheckpoint& checkpoint);

  int adapter(InputMode mode) const override;
  Tensor encode_image(const KernelContext& ctx, const ImageInput& image, size_t index,
                      Trace* trace = nullptr) const override;
  Tensor encode_audio(const KernelContext& ctx, const AudioInput& audio, InputMode mode,
                      Trace* trace = nullptr) const override;

 private:
  ImageEmbed image_embed_;
};

}  // namespace omniphi::phi3v

// Phi-4-multimodal: vision tower, audio encoder, projectors and decoder over one checkpoint's mapped weights.
#pragma once

#include "layers/mlp_projector.h"
#include "models/causal_model.h"
#include "models/checkpoint/model_checkpoint.h"
#include "models/conformer/conformer.h"
#include "models/phi4mm/processor/processor.h"
#include "models/siglip/siglip.h"

namespace omniphi::phi4mm {

class Model final : public CausalModel {
 public:
  // Binds the layers to the checkpoint's tensors; reads no weights. The checkpoint must outlive the model.
  explicit Model(const ModelCheckpoint& checkpoint);

  int adapter(InputMode mode) const override;

  Tensor encode_image(const KernelContext& ctx, const ImageInput& image, size_t index,
                      Trace* trace = nullptr) const override;

  // The speech projection serves audio alone, the vision projection a prompt with images too.
  Tensor encode_audio(const KernelContext& ctx, const AudioInput& audio, InputMode mode,
                      Trace* trace = nullptr) const override;

 private:
  Siglip siglip_;
  MlpProjector image_projection_;
  WeightRef sub_gn_, glb_gn_;  // [vision width]
  Conformer conformer_;
  MlpProjector audio_projection_speech_, audio_projection_vision_;
};

}  // namespace omniphi::phi4mm

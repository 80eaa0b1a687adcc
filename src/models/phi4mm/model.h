// Phi-4-multimodal: vision tower, audio encoder, projectors and decoder over one checkpoint's mapped weights.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernels.h"
#include "layers/mlp_projector.h"
#include "models/conformer/conformer.h"
#include "models/decoder/decoder.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/processor/processor.h"
#include "models/siglip/siglip.h"
#include "models/trace.h"
#include "tensor/tensor.h"

namespace omniphi::phi4mm {

class Model {
 public:
  // Binds the layers to the checkpoint's tensors; reads no weights. The checkpoint must outlive the model.
  explicit Model(const Checkpoint& checkpoint);

  const Config& config() const { return config_; }
  const Decoder& decoder() const { return decoder_; }

  // The longest sequence, prompt and answer together.
  int64_t context_length() const { return config_.decoder.max_position_embeddings; }

  // One image's rows for the decoder: [num_tokens, hidden]. `index` is its place in the prompt, for names of traced
  // stages.
  Tensor encode_image(const KernelContext& ctx, const ImageInput& image, size_t index, Trace* trace = nullptr) const;

  // One audio's rows for the decoder: [num_tokens, hidden]. The speech projection serves audio alone, the vision
  // projection a prompt with images too.
  Tensor encode_audio(const KernelContext& ctx, const AudioInput& audio, InputMode mode, Trace* trace = nullptr) const;

  // hidden_states [count, hidden]: embeddings of ids [first, first + count) of a prompt, media rows in place.
  // `media` holds one tensor a slot, in the order of `slots`.
  void embed(const KernelContext& ctx, std::span<const int32_t> ids, std::span<const MediaSlot> slots,
             std::span<const Tensor> media, int64_t first, float* hidden_states) const;

 private:
  Config config_;
  Decoder decoder_;
  Siglip siglip_;
  MlpProjector image_projection_;
  WeightRef sub_gn_, glb_gn_;  // [vision width]
  Conformer conformer_;
  MlpProjector audio_projection_speech_, audio_projection_vision_;
};

// Index of an adapter in Linear::adapters: -1 for none.
inline int adapter_index(Adapter adapter) { return static_cast<int>(adapter) - 1; }

}  // namespace omniphi::phi4mm

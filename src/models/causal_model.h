// A model of any family as the engine sees it: a decoder, and encoders that make its rows out of media.
#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "kernels/kernels.h"
#include "models/config.h"
#include "models/decoder/decoder.h"
#include "models/model_input.h"
#include "models/trace.h"
#include "tensor/tensor.h"

namespace omniphi {

class CausalModel {
 public:
  virtual ~CausalModel() = default;

  const ModelConfig& config() const { return config_; }
  const Decoder& decoder() const { return decoder_; }

  // The longest sequence, prompt and answer together.
  int64_t context_length() const { return config_.decoder.max_position_embeddings; }

  // Index of the LoRA branch that the media choose, in Linear::adapters; -1: none.
  virtual int adapter(InputMode mode) const = 0;

  // One image's rows for the decoder: [num_tokens, hidden]. `index` is its place in the prompt, for names of traced
  // stages.
  virtual Tensor encode_image(const KernelContext& ctx, const ImageInput& image, size_t index,
                              Trace* trace = nullptr) const = 0;

  // One audio's rows for the decoder: [num_tokens, hidden]. Throws kInternal in a family that hears nothing: its
  // processor has refused audio before.
  virtual Tensor encode_audio(const KernelContext& ctx, const AudioInput& audio, InputMode mode,
                              Trace* trace = nullptr) const = 0;

  // hidden_states [count, hidden]: embeddings of ids [first, first + count) of a prompt, media rows in place.
  // `media` holds one tensor a slot, in the order of `slots`.
  void embed(const KernelContext& ctx, std::span<const int32_t> ids, std::span<const MediaSlot> slots,
             std::span<const Tensor> media, int64_t first, float* hidden_states) const;

 protected:
  CausalModel(ModelConfig config, Decoder decoder) : config_(std::move(config)), decoder_(std::move(decoder)) {}

 private:
  ModelConfig config_;
  Decoder decoder_;
};

}  // namespace omniphi

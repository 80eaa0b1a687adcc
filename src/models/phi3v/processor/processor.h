// From a prompt's token ids with one negative id per picture to everything that the model reads.
#pragma once

#include <cstdint>
#include <vector>

#include "models/media_slot.h"
#include "models/phi3v/config.h"
#include "models/phi3v/processor/image_processor.h"

namespace omniphi::phi3v {

// A prompt that is ready for the model.
struct ModelInput {
  std::vector<int32_t> ids;      // expanded: -k stands once for each token of picture k (from 1)
  std::vector<MediaSlot> slots;  // in order of offset
  std::vector<ImageInput> images;

  int64_t image_tokens() const;
};

// Expands the one -k of every picture k. Ids of text are those of the vocabulary. The numbers must be 1, 2, ... in this
// order, one for each picture: the reference would put the rows of swapped pictures at the wrong places, and fails or
// shows embeddings of nothing for repeated ones. Throws kInput when they aren't, when an id is outside the vocabulary,
// when the list is empty, or when the prompt seems to be expanded already.
ModelInput build_input(const Config& config, const std::vector<int32_t>& ids, std::vector<ImageInput> images);

}  // namespace omniphi::phi3v

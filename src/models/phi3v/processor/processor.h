// From a prompt's token ids with one negative id per picture to everything that the model reads.
#pragma once

#include <cstdint>
#include <vector>

#include "models/phi3v/config.h"
#include "models/phi3v/processor/image_processor.h"

namespace omniphi::phi3v {

using omniphi::AudioInput;
using omniphi::MediaSlot;
using omniphi::ModelInput;

// The ids of text are those of the vocabulary, that of picture k is -k. The numbers must be 1, 2, ... in this order,
// one for each picture: the reference would put the rows of swapped pictures at the wrong places, and fails or shows
// embeddings of nothing for repeated ones. Throws kInput when they aren't, when an id is outside the vocabulary, when
// the list is empty, when the prompt seems to be expanded already, and for any audio.
void check_slots(const Config& config, const std::vector<int32_t>& ids, size_t images, size_t audios);

// Expands the one -k of every picture k, so that it stands once for each of its tokens. Throws as check_slots() does.
ModelInput build_input(const Config& config, const std::vector<int32_t>& ids, std::vector<ImageInput> images,
                       std::vector<AudioInput> audios = {});

}  // namespace omniphi::phi3v

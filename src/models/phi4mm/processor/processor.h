// From a prompt's token ids with one id per medium to everything that the model reads.
#pragma once

#include <cstdint>
#include <vector>

#include "models/phi4mm/config.h"
#include "models/phi4mm/processor/audio_processor.h"
#include "models/phi4mm/processor/image_processor.h"

namespace omniphi::phi4mm {

using omniphi::AudioInput;
using omniphi::input_mode_name;
using omniphi::InputMode;
using omniphi::MediaSlot;
using omniphi::ModelInput;

// Selects the LoRA branch of a whole generation: none for language, vision for vision and vision_speech, speech for
// speech.
Adapter adapter_of(InputMode mode);

// Throws kInput when the number of media ids and of media differ, when ids are outside the vocabulary, when the list is
// empty, or when a prompt seems to be expanded already.
void check_slots(const Config& config, const std::vector<int32_t>& ids, size_t images, size_t audios);

// Expands the one id of every medium. Media are taken in order of appearance. Throws as check_slots() does.
ModelInput build_input(const Config& config, const std::vector<int32_t>& ids, std::vector<ImageInput> images,
                       std::vector<AudioInput> audios);

}  // namespace omniphi::phi4mm

#include "models/phi3v/processor/processor.h"

#include <string>
#include <utility>

#include "base/error.h"
#include "text/phi3v_template.h"

namespace omniphi::phi3v {
void check_slots(const Config& config, const std::vector<int32_t>& ids, size_t images, size_t audios) {
  if (audios > 0) {
    throw Error(ErrorKind::kInput, "prompt", "an audio", "text or images",
                "Phi-3.5-vision can't hear; Phi-4-multimodal can.");
  }
  if (ids.empty()) throw Error(ErrorKind::kInput, "prompt", "no tokens", "at least one token");
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < config.decoder.vocab_size) continue;
    throw Error(ErrorKind::kInput, "prompt token " + std::to_string(i), "id " + std::to_string(ids[i]),
                "an id from 0 to " + std::to_string(config.decoder.vocab_size - 1) + ", or -k for picture k");
  }
  check_phi3v_slots(ids, images);
}

ModelInput build_input(const Config& config, const std::vector<int32_t>& ids, std::vector<ImageInput> images,
                       std::vector<AudioInput> audios) {
  check_slots(config, ids, images.size(), audios.size());
  ModelInput input;
  input.images = std::move(images);
  for (const int32_t id : ids) {
    if (id >= 0) {
      input.ids.push_back(id);
      continue;
    }
    MediaSlot slot;
    slot.index = static_cast<int>(input.slots.size());
    slot.offset = static_cast<int64_t>(input.ids.size());
    slot.tokens = input.images[static_cast<size_t>(slot.index)].num_tokens();
    input.slots.push_back(slot);
    input.ids.insert(input.ids.end(), static_cast<size_t>(slot.tokens), id);
  }
  if (!input.slots.empty()) input.mode = InputMode::kVision;
  return input;
}

}  // namespace omniphi::phi3v

#include "models/phi4mm/processor/processor.h"

#include <string>
#include <utility>

#include "base/error.h"

namespace omniphi::phi4mm {
namespace {

// Counts ids of one medium; two of them side by side more often than there are media look like an expanded prompt.
void check_count(const char* medium, int32_t id, int64_t found, size_t expected, bool adjacent) {
  if (found == static_cast<int64_t>(expected)) return;
  const std::string name = medium;
  std::string remedy = "Give the prompt exactly one " + name + " id for each " + name + "; the engine expands it.";
  if (adjacent && found > static_cast<int64_t>(expected)) {
    remedy = "The ids seem to be expanded already: omniphi expands one id for each " + name + " itself.";
  }
  throw Error(ErrorKind::kInput, "prompt",
              std::to_string(found) + " " + name + " slots (token id " + std::to_string(id) + ")",
              std::to_string(expected) + ", one for each " + name + " given", remedy);
}

}  // namespace

Adapter adapter_of(InputMode mode) {
  switch (mode) {
    case InputMode::kLanguage:
      return Adapter::kNone;
    case InputMode::kSpeech:
      return Adapter::kSpeech;
    case InputMode::kVision:
    case InputMode::kVisionSpeech:
      return Adapter::kVision;
  }
  return Adapter::kNone;
}

void check_slots(const Config& config, const std::vector<int32_t>& ids, size_t images, size_t audios) {
  if (ids.empty()) throw Error(ErrorKind::kInput, "prompt", "no tokens", "at least one token");
  int64_t image_ids = 0, audio_ids = 0;
  bool image_run = false, audio_run = false;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= config.decoder.vocab_size) {
      throw Error(ErrorKind::kInput, "prompt token " + std::to_string(i), "id " + std::to_string(ids[i]),
                  "an id from 0 to " + std::to_string(config.decoder.vocab_size - 1));
    }
    const bool repeated = i > 0 && ids[i] == ids[i - 1];
    if (ids[i] == config.image_token_id) {
      ++image_ids;
      image_run |= repeated;
    } else if (ids[i] == config.audio_token_id) {
      ++audio_ids;
      audio_run |= repeated;
    }
  }
  check_count("image", config.image_token_id, image_ids, images, image_run);
  check_count("audio", config.audio_token_id, audio_ids, audios, audio_run);
}

ModelInput build_input(const Config& config, const std::vector<int32_t>& ids, std::vector<ImageInput> images,
                       std::vector<AudioInput> audios) {
  check_slots(config, ids, images.size(), audios.size());
  ModelInput input;
  input.images = std::move(images);
  input.audios = std::move(audios);
  int next_image = 0, next_audio = 0;
  for (const int32_t id : ids) {
    if (id != config.image_token_id && id != config.audio_token_id) {
      input.ids.push_back(id);
      continue;
    }
    MediaSlot slot;
    slot.offset = static_cast<int64_t>(input.ids.size());
    if (id == config.image_token_id) {
      slot.kind = MediaSlot::Kind::kImage;
      slot.index = next_image++;
      slot.tokens = input.images[static_cast<size_t>(slot.index)].num_tokens();
    } else {
      slot.kind = MediaSlot::Kind::kAudio;
      slot.index = next_audio++;
      slot.tokens = input.audios[static_cast<size_t>(slot.index)].num_tokens;
    }
    input.slots.push_back(slot);
    input.ids.insert(input.ids.end(), static_cast<size_t>(slot.tokens), id);
  }
  const bool has_image = next_image > 0, has_audio = next_audio > 0;
  input.mode = has_image ? (has_audio ? InputMode::kVisionSpeech : InputMode::kVision)
                         : (has_audio ? InputMode::kSpeech : InputMode::kLanguage);
  return input;
}

}  // namespace omniphi::phi4mm

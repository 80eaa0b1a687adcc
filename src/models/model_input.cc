#include "models/model_input.h"

namespace omniphi {

const char* input_mode_name(InputMode mode) {
  switch (mode) {
    case InputMode::kLanguage:
      return "language";
    case InputMode::kVision:
      return "vision";
    case InputMode::kSpeech:
      return "speech";
    case InputMode::kVisionSpeech:
      return "vision_speech";
  }
  return "unknown";
}

}  // namespace omniphi

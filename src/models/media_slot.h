// Where a medium's embeddings stand in a prompt.
#pragma once

#include <cstdint>

namespace omniphi {

struct MediaSlot {
  enum class Kind : uint8_t { kImage, kAudio };
  Kind kind = Kind::kImage;
  int index = 0;       // among the media of its kind, in order of appearance
  int64_t offset = 0;  // first of its rows in the expanded prompt
  int64_t tokens = 0;
};

}  // namespace omniphi

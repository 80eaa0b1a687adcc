// The numbered markers of media in raw prompts, such as <|image_1|>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace omniphi {

// Numbers of markers stop counting here: more media than any prompt has.
inline constexpr int64_t kMaxMarkerNumber = 1000000000;

struct Marker {
  size_t end = 0;      // the byte behind it
  int64_t number = 0;  // leading zeros ignored; at most kMaxMarkerNumber
};

// The marker "NAME" + DIGITS + "|>" that begins at `at`, if one does; `name` is "<|image_". Case-sensitive. DIGITS as
// \d of Python, which the reference uses: decimal digits of any script. `text` is well-formed UTF-8.
std::optional<Marker> read_marker(std::string_view text, size_t at, std::string_view name);

}  // namespace omniphi

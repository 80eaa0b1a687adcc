// --pictures: the pictures of a request, drawn on the terminal.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/terminal/picture.h"
#include "cli/terminal/picture_protocol.h"
#include "media/image.h"

namespace omniphi::cli {

// --pictures auto|kitty|sixel|blocks|none.
void add_pictures_flag(CLI::App* verb, std::string* flag);

// Draws on standard output. The terminal is asked what it takes when the first picture comes, and not before.
class Pictures {
 public:
  // Throws kUsage on a flag that isn't one.
  explicit Pictures(std::string flag);

  // What `show` will use.
  PictureProtocol protocol();
  // Whether that shows pixels smaller than half a character.
  bool fine() { return protocol() == PictureProtocol::kKitty || protocol() == PictureProtocol::kSixel; }

  void show(const Image& image, const PictureRoom& room = {});

 private:
  std::string flag_;
  std::optional<PictureProtocol> protocol_;
};

}  // namespace omniphi::cli

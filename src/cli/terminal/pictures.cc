#include "cli/terminal/pictures.h"

#include <iostream>
#include <utility>

#include "cli/terminal/terminal.h"

namespace omniphi::cli {

void add_pictures_flag(CLI::App* verb, std::string* flag) {
  verb->add_option("--pictures", *flag,
                   "Draw images of the request on the terminal, by kitty's protocol, as sixels or as half blocks; auto "
                   "finds out what the terminal takes, and draws nothing where NO_COLOR is set or the output is a file")
      ->capture_default_str()
      ->type_name("auto|kitty|sixel|blocks|none");
}

Pictures::Pictures(std::string flag) : flag_(std::move(flag)) {
  protocol_of_flag(flag_, TerminalFacts{});  // throws when there is no such protocol
}

PictureProtocol Pictures::protocol() {
  if (!protocol_) protocol_ = protocol_of_flag(flag_, terminal_facts());
  return *protocol_;
}

void Pictures::show(const Image& image, const PictureRoom& room) {
  std::cout << draw_picture(image, protocol(), terminal_size(), room) << std::flush;
}

}  // namespace omniphi::cli

// How a picture gets onto the terminal, and which terminals take it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace omniphi::cli {

enum class PictureProtocol : uint8_t {
  kNone,
  kKitty,      // kitty's graphics protocol
  kSixel,      // DEC's bitmap graphics
  kBlocks,     // half blocks in 24-bit colour
  kBlocks256,  // half blocks in the 256 colours of xterm
};

// What is known about the terminal.
struct TerminalFacts {
  bool is_terminal = false;  // standard output is one
  std::string term;          // TERM, and so on
  std::string term_program;
  std::string color_term;
  bool kitty_window = false;               // KITTY_WINDOW_ID is set
  bool multiplexer = false;                // TMUX or STY is set
  bool no_color = false;                   // NO_COLOR is set to something
  std::function<bool()> answers_to_sixel;  // asks the terminal itself; called at most once, and last
};

// The best that the terminal takes. Nothing where colour is unwanted or can't be.
PictureProtocol choose_protocol(const TerminalFacts& facts);

// What --pictures says: auto, kitty, sixel, blocks or none. A protocol that is named is used whatever the terminal is.
// Throws kUsage.
PictureProtocol protocol_of_flag(const std::string& flag, const TerminalFacts& facts);

}  // namespace omniphi::cli

#include "cli/terminal/picture_protocol.h"

#include "base/error.h"
#include "io/json.h"

namespace omniphi::cli {
namespace {

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

bool speaks_kitty(const TerminalFacts& facts) {
  // A multiplexer passes the variables of the terminal around it, but not its graphics.
  if (facts.multiplexer || facts.term.starts_with("screen") || facts.term.starts_with("tmux")) return false;
  return facts.kitty_window || contains(facts.term, "kitty") || contains(facts.term, "ghostty") ||
         facts.term_program == "ghostty" || facts.term_program == "WezTerm";
}

PictureProtocol blocks_of(const TerminalFacts& facts) {
  const bool true_color =
      facts.color_term == "truecolor" || facts.color_term == "24bit" || contains(facts.term, "direct");
  return true_color ? PictureProtocol::kBlocks : PictureProtocol::kBlocks256;
}

}  // namespace

PictureProtocol choose_protocol(const TerminalFacts& facts) {
  if (!facts.is_terminal || facts.no_color || facts.term.empty() || facts.term == "dumb") return PictureProtocol::kNone;
  if (speaks_kitty(facts)) return PictureProtocol::kKitty;
  if (facts.answers_to_sixel && facts.answers_to_sixel()) return PictureProtocol::kSixel;
  return blocks_of(facts);
}

PictureProtocol protocol_of_flag(const std::string& flag, const TerminalFacts& facts) {
  if (flag == "auto") return choose_protocol(facts);
  if (flag == "none") return PictureProtocol::kNone;
  if (flag == "kitty") return PictureProtocol::kKitty;
  if (flag == "sixel") return PictureProtocol::kSixel;
  if (flag == "blocks") return blocks_of(facts);
  throw Error(ErrorKind::kUsage, "--pictures", show_text(flag), "auto, kitty, sixel, blocks or none");
}

}  // namespace omniphi::cli

#include "cli/terminal/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>

#include "cli/report.h"

namespace omniphi::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The controlling terminal, answering byte by byte and without echo while this lives. Standard input may be a file.
class RawTerminal {
 public:
  RawTerminal() : descriptor_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    // A process in the background would be stopped for changing the modes.
    if (descriptor_ < 0 || ::tcgetpgrp(descriptor_) != ::getpgrp()) return;
    if (::tcgetattr(descriptor_, &before_) != 0) return;
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    ready_ = ::tcsetattr(descriptor_, TCSANOW, &raw) == 0;
  }
  ~RawTerminal() {
    if (ready_) ::tcsetattr(descriptor_, TCSANOW, &before_);
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  // What comes back up to and with `last`, within `limit`; what came by then when it doesn't.
  std::string ask(std::string_view question, char last, std::chrono::milliseconds limit) const {
    if (!ready_ || ::write(descriptor_, question.data(), question.size()) != static_cast<ssize_t>(question.size())) {
      return "";
    }
    const auto end = std::chrono::steady_clock::now() + limit;
    std::string answer;
    while (answer.empty() || answer.back() != last) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
      pollfd waiting{descriptor_, POLLIN, 0};
      char c = 0;
      if (left.count() <= 0 || ::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) break;
      if (::read(descriptor_, &c, 1) != 1) break;
      answer += c;
    }
    return answer;
  }

 private:
  int descriptor_ = -1;
  termios before_{};
  bool ready_ = false;
};

bool ask_for_sixel() { return attributes_name_sixel(RawTerminal().ask("\x1b[c", 'c', std::chrono::milliseconds(100))); }

}  // namespace

bool attributes_name_sixel(const std::string& answer) {
  const size_t begin = answer.find("\x1b[?");
  const size_t end = answer.find('c', begin == std::string::npos ? 0 : begin);
  if (begin == std::string::npos || end == std::string::npos) return false;
  // Each attribute between semicolons. The first number is the terminal's class, where a 4 means no graphics.
  const std::string list = answer.substr(begin + 3, end - begin - 3) + ";";
  const size_t behind_class = list.find(';');
  return list.find(";4;", behind_class) != std::string::npos;
}

TerminalFacts terminal_facts() {
  TerminalFacts facts;
  facts.is_terminal = stdout_is_terminal();
  facts.term = variable("TERM");
  facts.term_program = variable("TERM_PROGRAM");
  facts.color_term = variable("COLORTERM");
  facts.kitty_window = !variable("KITTY_WINDOW_ID").empty();
  facts.multiplexer = !variable("TMUX").empty() || !variable("STY").empty();
  facts.no_color = !variable("NO_COLOR").empty();
  facts.answers_to_sixel = ask_for_sixel;
  return facts;
}

TerminalSize terminal_size() {
  TerminalSize size;
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0 || window.ws_row == 0) return size;
  size.columns = window.ws_col;
  size.rows = window.ws_row;
  if (window.ws_xpixel >= window.ws_col && window.ws_ypixel >= window.ws_row) {
    size.cell_width = window.ws_xpixel / window.ws_col;
    size.cell_height = window.ws_ypixel / window.ws_row;
  }
  return size;
}

}  // namespace omniphi::cli

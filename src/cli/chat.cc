#include "cli/chat.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/interrupt.h"
#include "cli/report.h"
#include "media/image_decode.h"

namespace omniphi::cli {
namespace {

constexpr const char* kHelp =
    "/image PATH   add an image to the next message\n"
    "/audio PATH   add an audio to the next message\n"
    "/reset        forget the conversation\n"
    "/help         show this list\n"
    "/quit         leave (so does Ctrl-D)\n"
    "Ctrl-C stops an answer. An empty line sends media without text.\n";

// Text without white space at its ends.
std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1));
}

class Chat {
 public:
  Chat(Session* session, const ChatSetup& setup) : session_(session), setup_(setup), terminal_(stdin_is_terminal()) {
    reset();
  }

  int run();

 private:
  enum class Next { kContinue, kQuit };

  void reset();
  bool read_line(std::string* line);
  Next handle(const std::string& line);
  void add_media(MediaKind kind, const std::string& path);
  void take_turn(const std::string& text);
  std::string answer(const Prompt& prompt);

  Session* session_;
  const ChatSetup& setup_;
  bool terminal_;
  Prompt conversation_;
  std::vector<MediaSource> pending_;  // media of the next message
  int exit_code_ = 0;
};

void Chat::reset() {
  conversation_ = Prompt{};
  pending_.clear();
  if (setup_.system) add_text_turn(&conversation_, "system", *setup_.system);
}

bool Chat::read_line(std::string* line) {
  while (true) {
    if (terminal_) std::cout << "> " << std::flush;
    if (std::getline(std::cin, *line)) return true;
    if (!InterruptGuard::take()) return false;
    // Ctrl-C at the prompt: a new line instead of the end.
    std::clearerr(stdin);
    std::cin.clear();
    std::cout << "\n(/quit or Ctrl-D leaves)\n";
  }
}

void Chat::add_media(MediaKind kind, const std::string& path) {
  MediaSource source = media_from_url(kind, path, {}, kind == MediaKind::kImage ? "/image" : "/audio");
  source.bytes = load_media(source);  // the file may change before a later turn needs it again
  source.path.clear();
  if (kind == MediaKind::kImage && setup_.pictures->protocol() != PictureProtocol::kNone) {
    ImageOptions decode;
    decode.reference_media = setup_.prepare.reference_media;
    setup_.pictures->show(decode_image(source.bytes, source.name, decode));
  }
  pending_.push_back(std::move(source));
  if (terminal_) std::cout << "(" << path << " goes with the next message)\n";
}

Chat::Next Chat::handle(const std::string& line) {
  const size_t space = line.find_first_of(" \t");
  const std::string command = line.substr(0, space);
  const std::string argument = space == std::string::npos ? "" : trimmed(line.substr(space));
  if (command == "/quit" || command == "/exit") return Next::kQuit;
  if (command == "/reset") {
    reset();
    if (terminal_) std::cout << "(the conversation is forgotten)\n";
  } else if (command == "/help") {
    std::cout << kHelp << std::flush;
  } else if (command == "/image" || command == "/audio") {
    if (argument.empty()) throw Error(ErrorKind::kInput, command, "no path", command + " PATH");
    add_media(command == "/image" ? MediaKind::kImage : MediaKind::kAudio, argument);
  } else if (command.size() > 1 && command[0] == '/' && command.find('/', 1) == std::string::npos) {
    throw Error(ErrorKind::kInput, "the chat", "the command " + command, "/image, /audio, /reset, /help or /quit",
                "put a space in front to send it as text");
  } else {
    take_turn(line);
  }
  return Next::kContinue;
}

void Chat::take_turn(const std::string& text) {
  if (trimmed(text).empty() && pending_.empty()) return;
  Prompt next = conversation_;
  add_user_turn(&next, std::exchange(pending_, {}), text);
  try {
    add_text_turn(&next, "assistant", answer(next));
    conversation_ = std::move(next);
  } catch (const InterruptGuard::Interrupted&) {
    InterruptGuard::take();
    std::cout << "\n[stopped before the answer began: the message is forgotten]\n" << std::flush;
  }
}

std::string Chat::answer(const Prompt& prompt) {
  InterruptGuard::take();
  const ModelInput input = session_->prepare(prompt, setup_.prepare);
  size_t shown = 0;
  const Generation generation =
      session_->engine().generate(input, setup_.generation, [&](const GenerationEvent& event) {
        if (setup_.stream) {
          std::cout << for_output(event.text) << std::flush;
          shown += event.text.size();
        }
        return !InterruptGuard::raised();
      });
  std::cout << for_output(std::string_view(generation.text).substr(std::min(shown, generation.text.size())));
  std::cout << (InterruptGuard::take() ? " [stopped]\n" : "\n") << std::flush;
  return generation.text;
}

int Chat::run() {
  const InterruptGuard guard;
  if (terminal_) std::cout << "/help lists the commands.\n";
  std::string line;
  while (read_line(&line)) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    try {
      if (handle(line) == Next::kQuit) break;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::kInternal) throw;
      report_error(error, std::cerr);
      if (!terminal_ && exit_code_ == 0) exit_code_ = omniphi::exit_code(error.kind());
    }
  }
  if (terminal_) std::cout << "\n";
  return exit_code_;
}

}  // namespace

int chat(Session* session, const ChatSetup& setup) { return Chat(session, setup).run(); }

}  // namespace omniphi::cli

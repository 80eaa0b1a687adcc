// A conversation at the terminal, or over piped lines.
#pragma once

#include <optional>
#include <string>

#include "cli/terminal/pictures.h"
#include "runtime/session.h"

namespace omniphi::cli {

struct ChatSetup {
  std::optional<std::string> system;
  PrepareOptions prepare;
  GenerationOptions generation;
  bool stream = true;
  Pictures* pictures = nullptr;  // shows what /image adds
};

// Reads lines from standard input until it ends or /quit. A line is a user turn; /image PATH and /audio PATH add media
// to the next one; /reset forgets the conversation; /help lists the commands. Ctrl-C stops the answer that is being
// written. The whole conversation goes through the chat template at every turn. What is wrong with a turn is reported
// and the turn forgotten. Returns the exit code: 0, or that of the first turn that failed when the lines were piped.
int chat(Session* session, const ChatSetup& setup);

}  // namespace omniphi::cli

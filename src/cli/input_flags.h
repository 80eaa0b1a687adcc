// The flags that say what is asked: prompt, media, messages, token ids.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "request/prompt.h"

namespace omniphi::cli {

struct InputFlags {
  std::optional<std::string> prompt;
  std::optional<std::string> system;
  // Images and audios in the order in which they stand on the command line.
  std::vector<std::pair<MediaKind, std::string>> media;
  std::optional<std::string> messages_file;
  std::optional<std::string> token_ids_file;
  bool raw_prompt = false;
  int max_image_crops = 0;  // 0: the checkpoint's limit
  bool reference_media = false;

  // Nothing at all was asked: `run` starts a chat then.
  bool empty() const { return !prompt && media.empty() && !messages_file && !token_ids_file; }
};

void add_input_flags(CLI::App* verb, InputFlags* flags);

// Only what decides how media are processed (a chat brings its own input).
void add_media_flags(CLI::App* verb, InputFlags* flags);

// Throws kUsage when flags contradict each other, naming both.
void check_input_flags(const InputFlags& flags);

// The request that the flags make. Reads --messages and --token-ids, checks that media exist, reads no media. Throws
// kInput, and kUsage as check_input_flags() does.
Prompt make_prompt(const InputFlags& flags);

}  // namespace omniphi::cli

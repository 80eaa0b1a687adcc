// What is asked of the model, before any of it is tokenised or decoded.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "request/media_source.h"
#include "text/chat_template.h"

namespace omniphi {

// One request to the model, in one of three forms. The CLI, the C++ API and a server make the same object.
struct Prompt {
  enum class Form : uint8_t {
    kChat,      // `messages` and `tools`, laid out by the chat template
    kRaw,       // `raw`: control tokens and media markers are parsed, nothing is added
    kTokenIds,  // `ids`: one id for every medium, nothing is added
  };
  Form form = Form::kChat;
  std::vector<ChatMessage> messages;
  std::optional<std::string> tools;  // compact JSON of the whole request's tools
  std::string raw;
  std::vector<int32_t> ids;

  // In the order in which their parts, markers or ids stand in the prompt.
  std::vector<MediaSource> media;
  // What was accepted though it has no effect on the model.
  std::vector<std::string> warnings;
};

// Appends a user turn: its media in the order given, then the text.
void add_user_turn(Prompt* prompt, std::vector<MediaSource> media, const std::string& text);

// Appends a turn of text alone.
void add_text_turn(Prompt* prompt, const std::string& role, const std::string& text);

// Reads a JSON list of token ids (negative ones stand for media in some families) from a file ("-": standard input).
// Throws kInput naming the first entry that isn't an integer that an id can be.
std::vector<int32_t> read_token_ids(const std::filesystem::path& path);

// The same from the file's bytes; `where` names them in errors.
std::vector<int32_t> parse_token_ids(std::string_view json, const std::string& where);

}  // namespace omniphi

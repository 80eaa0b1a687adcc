// What every family's chat template takes and gives: conversations, and prompts as typed pieces. Text is never
// searched: what a user types stays characters, whatever it looks like.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omniphi {

// A stretch of a prompt.
struct Piece {
  enum class Kind {
    kText,     // plain characters in `text`
    kControl,  // the added token whose content is `text`, for example "<|user|>"
    kImage,    // the next image; `text` is empty
    kAudio,    // the next audio; `text` is empty
  };
  Kind kind = Kind::kText;
  std::string text;

  bool operator==(const Piece&) const = default;
};

// A part of a message's content. Images and audios are taken in the order in which they stand in the conversation.
struct ContentPart {
  enum class Kind { kText, kImage, kAudio };
  Kind kind = Kind::kText;
  std::string text;  // of kText
};

struct ChatMessage {
  std::string role;  // system, user, assistant, tool or tool_response
  std::vector<ContentPart> parts;
  std::optional<std::string> tools;  // compact JSON, rendered as it stands; only in a system message
};

struct ChatOptions {
  bool add_generation_prompt = true;  // end where the assistant's answer begins
  // Tools of the whole request (compact JSON). With Phi-4-multimodal they go into the first system message; when there
  // is none, into an empty one in front. Phi-3.5-vision has no place for them.
  std::optional<std::string> tools;
};

// Throws kInput at "messages[INDEX].FIELD".
[[noreturn]] void refuse_message(size_t index, const std::string& field, const std::string& found,
                                 const std::string& expected, const std::string& remedy);

// Throws kInput when the message's role is none of the five that a request may give.
void check_role(const ChatMessage& message, size_t index);

// Throws kInput naming the first byte of `part` ("prompt") that isn't UTF-8.
void check_prompt_text(const std::string& part, std::string_view text);

}  // namespace omniphi

// How a model family writes its prompts: all that the engine asks of it before media are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/chat.h"
#include "text/tokenizer.h"

namespace omniphi {

// A family's functions; chat_ids() and raw_prompt_ids() call them. A new family adds its constant below.
struct PromptStyle {
  const char* family;

  // Lays out a conversation. Throws kInput naming the message.
  std::vector<Piece> (*chat)(const std::vector<ChatMessage>& messages, const ChatOptions& options);

  // Parses control tokens and media markers out of a raw prompt that comes with so many images. Throws kInput.
  std::vector<Piece> (*raw)(const Tokenizer& tokenizer, std::string_view prompt, size_t images);

  // Appends the ids of the pieces, one id for each medium. Throws kCheckpoint for a tokenizer of another family, kInput
  // for a medium that the family doesn't know.
  void (*encode)(const Tokenizer& tokenizer, const std::vector<Piece>& pieces, std::vector<int32_t>* ids);
};

extern const PromptStyle kPhi4mmPrompts;  // an image's id is <|endoftext10|>'s, an audio's <|endoftext11|>'s
extern const PromptStyle kPhi3vPrompts;   // the id of picture k is -k

// The ids of a conversation, and of a raw prompt, with one id for each medium. Throw as the style's functions do.
std::vector<int32_t> chat_ids(const PromptStyle& style, const Tokenizer& tokenizer,
                              const std::vector<ChatMessage>& messages, const ChatOptions& options = {});
std::vector<int32_t> raw_prompt_ids(const PromptStyle& style, const Tokenizer& tokenizer, std::string_view prompt,
                                    size_t images);

}  // namespace omniphi

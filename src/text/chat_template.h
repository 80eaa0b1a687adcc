// Phi-4-multimodal's chat template and raw prompts.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "text/chat.h"
#include "text/tokenizer.h"

namespace omniphi {

// The added tokens whose ids mark a medium in a prompt of Phi-4-multimodal.
inline constexpr std::string_view kImageToken = "<|endoftext10|>";
inline constexpr std::string_view kAudioToken = "<|endoftext11|>";

// Lays out a conversation as Phi-4's published template does: <|ROLE|>CONTENT<|end|> for each message, at last
// <|assistant|> (or <|endoftext|> without a generation prompt), the tools of a system message as <|tool|>TOOLS<|/tool|>
// before its <|end|>. Parts join in the order given with nothing between. The template writes the role's name whatever
// it is, so a message of role "tool" begins with <|tool|>; results that should stand behind the dedicated token have
// the role "tool_response". Throws kInput naming the message: unknown role, tools outside a system message or given
// twice.
std::vector<Piece> render_chat(const std::vector<ChatMessage>& messages, const ChatOptions& options = {});

// Appends the ids of the pieces, ONE id for each medium. Adjacent texts are joined before they are tokenised, and white
// space next to a control token that strips it vanishes, so that without literal markers in the texts this equals
// encode_special() of the reference's string. Throws kCheckpoint when the tokenizer lacks a control or media token,
// kInput when a text isn't UTF-8.
void encode_pieces(const Tokenizer& tokenizer, const std::vector<Piece>& pieces, std::vector<int32_t>* ids);

// Only for --raw-prompt: parses control tokens and media markers out of a prompt, as the reference's processor does.
// <|image_DIGITS|> and <|audio_DIGITS|> are media whatever the number, and so are literal media tokens.
// Throws kInput when the text isn't UTF-8.
std::vector<Piece> parse_raw_prompt(const Tokenizer& tokenizer, std::string_view prompt);

}  // namespace omniphi

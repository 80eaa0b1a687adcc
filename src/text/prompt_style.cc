#include "text/prompt_style.h"

#include "text/chat_template.h"
#include "text/phi3v_template.h"

namespace omniphi {
namespace {

// Markers of Phi-4-multimodal are media whatever comes with the prompt; the processor counts them.
std::vector<Piece> phi4mm_raw(const Tokenizer& tokenizer, std::string_view prompt, size_t) {
  return parse_raw_prompt(tokenizer, prompt);
}

}  // namespace

const PromptStyle kPhi4mmPrompts = {"phi4mm", render_chat, phi4mm_raw, encode_pieces};
const PromptStyle kPhi3vPrompts = {"phi3_v", render_phi3v_chat, parse_phi3v_raw_prompt, encode_phi3v_pieces};

std::vector<int32_t> chat_ids(const PromptStyle& style, const Tokenizer& tokenizer,
                              const std::vector<ChatMessage>& messages, const ChatOptions& options) {
  std::vector<int32_t> ids;
  style.encode(tokenizer, style.chat(messages, options), &ids);
  return ids;
}

std::vector<int32_t> raw_prompt_ids(const PromptStyle& style, const Tokenizer& tokenizer, std::string_view prompt,
                                    size_t images) {
  std::vector<int32_t> ids;
  style.encode(tokenizer, style.raw(tokenizer, prompt, images), &ids);
  return ids;
}

}  // namespace omniphi

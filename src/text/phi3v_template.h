// Phi-3.5-vision's chat template and raw prompts. The slot of picture k in a list of ids is -k.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/chat.h"
#include "text/tokenizer.h"

namespace omniphi {

// Ids of slots reach down to this one; lower numbers mean nothing, as in the reference.
inline constexpr int32_t kLastPhi3vSlot = -999999999;

// Lays out a conversation as the published template does: <|ROLE|> "\n" CONTENT <|end|> "\n" for each message, then
// <|assistant|> "\n" where a generation prompt is wanted and the last message isn't the assistant's. An image of the
// content is its tag and a newline. There are control tokens for system, user and assistant; the name of another role
// is written in characters, as the template does. Throws kInput naming the message: unknown role, tools (the template
// has no place for them), audio; or no message.
std::vector<Piece> render_phi3v_chat(const std::vector<ChatMessage>& messages, const ChatOptions& options = {});

// Only for --raw-prompt: parses control tokens and the tags <|image_DIGITS|> out of a prompt, as the reference's
// processor does. Without images a tag is text.
// Throws kInput when the prompt isn't UTF-8, and when the tags aren't <|image_1|> to <|image_IMAGES|>, once each, in
// this order, naming the tag that is foreign, repeated, missing or out of order. The reference's processor lets two of
// these pass: its model then fails on a repeated tag, and gives pictures out of order to each other's tags without a
// word.
std::vector<Piece> parse_phi3v_raw_prompt(const Tokenizer& tokenizer, std::string_view prompt, size_t images);

// Appends the ids of the pieces: <s>, and for the picture k -k and another <s>, so that each stretch between pictures
// is tokenised on its own as the reference does it. Without literal tokens in the texts this equals the reference's ids
// before expansion. Throws kCheckpoint when the tokenizer has no BOS or lacks a control token, kInput for an audio and
// when a text isn't UTF-8.
void encode_phi3v_pieces(const Tokenizer& tokenizer, const std::vector<Piece>& pieces, std::vector<int32_t>* ids);

// The rule of tags for a list of ids that a request brought: its slots are -1 to -IMAGES, once each, in this order.
// Throws kInput naming the slot, and for an id below kLastPhi3vSlot.
void check_phi3v_slots(std::span<const int32_t> ids, size_t images);

}  // namespace omniphi

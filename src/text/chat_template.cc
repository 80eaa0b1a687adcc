#include "text/chat_template.h"

#include <optional>
#include <string>
#include <utility>

#include "text/markers.h"
#include "text/piece_encoder.h"

namespace omniphi {
namespace {

Piece control(std::string content) { return {Piece::Kind::kControl, std::move(content)}; }

void check_message(const ChatMessage& message, size_t index) {
  check_role(message, index);
  if (message.tools && message.role != "system") {
    refuse_message(index, "tools", "tools in a message of role " + message.role, "tools in a system message only",
                   "Move the tools to the system message or to the request.");
  }
}

void render_message(const ChatMessage& message, const std::optional<std::string>& tools, std::vector<Piece>* pieces) {
  pieces->push_back(control("<|" + message.role + "|>"));
  for (const ContentPart& part : message.parts) {
    switch (part.kind) {
      case ContentPart::Kind::kText:
        if (!part.text.empty()) pieces->push_back({Piece::Kind::kText, part.text});
        break;
      case ContentPart::Kind::kImage:
        pieces->push_back({Piece::Kind::kImage, ""});
        break;
      case ContentPart::Kind::kAudio:
        pieces->push_back({Piece::Kind::kAudio, ""});
        break;
    }
  }
  if (tools) {
    pieces->push_back(control("<|tool|>"));
    if (!tools->empty()) pieces->push_back({Piece::Kind::kText, *tools});
    pieces->push_back(control("<|/tool|>"));
  }
  pieces->push_back(control("<|end|>"));
}

// The added token that a piece which is not text stands for.
const AddedToken& token_of(const Tokenizer& tokenizer, const Piece& piece) {
  std::string_view content = piece.text;
  if (piece.kind == Piece::Kind::kImage) content = kImageToken;
  if (piece.kind == Piece::Kind::kAudio) content = kAudioToken;
  return control_token(tokenizer, content, "Phi-4-multimodal");
}

// The prompt with every numbered marker replaced by the token of its medium, as the reference's processor does first.
std::string replace_markers(std::string_view prompt) {
  std::string text;
  size_t copied = 0;
  for (size_t at = prompt.find("<|"); at != std::string_view::npos; at = prompt.find("<|", at)) {
    std::string_view token = kImageToken;
    std::optional<Marker> marker = read_marker(prompt, at, "<|image_");
    if (!marker) {
      token = kAudioToken;
      marker = read_marker(prompt, at, "<|audio_");
    }
    if (!marker) {
      at += 2;
      continue;
    }
    text += prompt.substr(copied, at - copied);
    text += token;
    copied = at = marker->end;
  }
  text += prompt.substr(copied);
  return text;
}

}  // namespace

std::vector<Piece> render_chat(const std::vector<ChatMessage>& messages, const ChatOptions& options) {
  size_t system = messages.size();  // the message that takes the tools of the request
  for (size_t i = 0; i < messages.size(); ++i) {
    check_message(messages[i], i);
    if (system == messages.size() && messages[i].role == "system") system = i;
    if (options.tools && messages[i].tools) {
      refuse_message(i, "tools", "tools in the message and in the request", "tools in one place",
                     "Leave one of them out.");
    }
  }
  std::vector<Piece> pieces;
  if (options.tools && system == messages.size()) render_message({"system", {}, {}}, options.tools, &pieces);
  for (size_t i = 0; i < messages.size(); ++i) {
    const bool takes_tools = options.tools && i == system;
    render_message(messages[i], takes_tools ? options.tools : messages[i].tools, &pieces);
  }
  pieces.push_back(control(options.add_generation_prompt ? "<|assistant|>" : "<|endoftext|>"));
  return pieces;
}

void encode_pieces(const Tokenizer& tokenizer, const std::vector<Piece>& pieces, std::vector<int32_t>* ids) {
  PieceEncoder encoder(tokenizer, ids);
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::kText) {
      encoder.text(piece.text);
    } else {
      encoder.control(token_of(tokenizer, piece));
    }
  }
  encoder.finish();
}

std::vector<Piece> parse_raw_prompt(const Tokenizer& tokenizer, std::string_view prompt) {
  check_prompt_text("prompt", prompt);
  const std::string text = replace_markers(prompt);
  std::vector<Piece> pieces;
  append_pieces(tokenizer, text, &pieces);
  for (Piece& piece : pieces) {
    if (piece.kind != Piece::Kind::kControl) continue;
    if (piece.text == kImageToken) piece = {Piece::Kind::kImage, ""};
    if (piece.text == kAudioToken) piece = {Piece::Kind::kAudio, ""};
  }
  return pieces;
}

}  // namespace omniphi

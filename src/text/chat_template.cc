#include "text/chat_template.h"

#include <array>
#include <utility>

#include "base/error.h"
#include "base/utf8.h"
#include "text/added_tokens.h"
#include "text/unicode.h"

namespace omniphi {
namespace {

constexpr std::array<std::string_view, 5> kRoles = {"system", "user", "assistant", "tool", "tool_response"};

Piece control(std::string content) { return {Piece::Kind::kControl, std::move(content)}; }

[[noreturn]] void refuse(size_t message, const std::string& field, const std::string& found,
                         const std::string& expected, const std::string& remedy) {
  throw Error(ErrorKind::kInput, "messages[" + std::to_string(message) + "]." + field, found, expected, remedy);
}

void check_message(const ChatMessage& message, size_t index) {
  bool known = false;
  for (const std::string_view role : kRoles) known = known || message.role == role;
  if (!known) {
    std::string role;
    append_replacing_invalid(std::string_view(message.role).substr(0, 60), &role);
    refuse(index, "role", "\"" + role + "\"", "system, user, assistant, tool or tool_response",
           "Give the message one of these roles.");
  }
  if (message.tools && message.role != "system") {
    refuse(index, "tools", "tools in a message of role " + message.role, "tools in a system message only",
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
  const std::optional<int32_t> id = tokenizer.added_token_id(content);
  if (!id) {
    throw Error(ErrorKind::kCheckpoint, "tokenizer.json: added_tokens", "no token " + std::string(content),
                "the control and media tokens of Phi-4-multimodal",
                "Use the tokenizer files of a released checkpoint.");
  }
  return *tokenizer.added_token(*id);
}

// If <|NAME_DIGITS|> begins at `at`, where it ends; else `at`. DIGITS as \d of Python, which the reference uses.
size_t skip_marker(std::string_view text, size_t at, std::string_view name) {
  if (text.substr(at, name.size()) != name) return at;
  const size_t first_digit = at + name.size();
  size_t end = first_digit;
  while (end < text.size()) {
    const CodePoint code = read_code_point(text, end);
    if (unicode::class_of(code.value) != unicode::CharClass::kDecimal) break;
    end += code.length;
  }
  return end > first_digit && text.substr(end, 2) == "|>" ? end + 2 : at;
}

// The prompt with every numbered marker replaced by the token of its medium, as the reference's processor does first.
std::string replace_markers(std::string_view prompt) {
  std::string text;
  size_t copied = 0;
  for (size_t at = prompt.find("<|"); at != std::string_view::npos; at = prompt.find("<|", at)) {
    size_t end = skip_marker(prompt, at, "<|image_");
    std::string_view token = kImageToken;
    if (end == at) {
      end = skip_marker(prompt, at, "<|audio_");
      token = kAudioToken;
    }
    if (end == at) {
      at += 2;
      continue;
    }
    text += prompt.substr(copied, at - copied);
    text += token;
    copied = at = end;
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
      refuse(i, "tools", "tools in the message and in the request", "tools in one place", "Leave one of them out.");
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
  std::string text;         // adjacent text pieces, joined
  bool strip_left = false;  // the token before `text` swallows white space
  const auto flush = [&](bool strip_right) {
    if (text.empty()) return;
    const size_t bad = find_invalid_utf8(text);  // the strip rules below read whole characters
    if (bad != std::string::npos) {
      throw Error(ErrorKind::kInput, "text", "a byte that is not UTF-8 at offset " + std::to_string(bad),
                  "well-formed UTF-8", "Convert the text to UTF-8 first.");
    }
    const size_t begin = strip_left ? skip_space(text, 0) : 0;
    const std::string_view rest = std::string_view(text).substr(begin);
    tokenizer.encode(rest.substr(0, strip_right ? skip_space_back(rest, rest.size()) : rest.size()), ids);
    text.clear();
  };
  for (const Piece& piece : pieces) {
    if (piece.kind == Piece::Kind::kText) {
      text += piece.text;
      continue;
    }
    const AddedToken& token = token_of(tokenizer, piece);
    flush(token.lstrip);
    ids->push_back(token.id);
    strip_left = token.rstrip;
  }
  flush(false);
}

std::vector<Piece> parse_raw_prompt(const Tokenizer& tokenizer, std::string_view prompt) {
  const size_t bad = find_invalid_utf8(prompt);
  if (bad != std::string_view::npos) {
    throw Error(ErrorKind::kInput, "prompt", "a byte that is not UTF-8 at offset " + std::to_string(bad),
                "well-formed UTF-8", "Convert the prompt to UTF-8 first.");
  }
  const std::string text = replace_markers(prompt);
  std::vector<Piece> pieces;
  for (const TextSegment& segment : tokenizer.find_added_tokens(text)) {
    if (segment.token == nullptr) {
      pieces.push_back({Piece::Kind::kText, text.substr(segment.begin, segment.end - segment.begin)});
    } else if (segment.token->content == kImageToken) {
      pieces.push_back({Piece::Kind::kImage, ""});
    } else if (segment.token->content == kAudioToken) {
      pieces.push_back({Piece::Kind::kAudio, ""});
    } else {
      pieces.push_back(control(segment.token->content));
    }
  }
  return pieces;
}

}  // namespace omniphi

#include "text/phi3v_template.h"

#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "text/markers.h"
#include "text/piece_encoder.h"

namespace omniphi {
namespace {

constexpr std::string_view kTag = "<|image_";

Piece control(std::string content) { return {Piece::Kind::kControl, std::move(content)}; }
Piece text(std::string characters) { return {Piece::Kind::kText, std::move(characters)}; }

bool has_control_token(const std::string& role) { return role == "system" || role == "user" || role == "assistant"; }

void check_message(const ChatMessage& message, size_t index) {
  check_role(message, index);
  if (message.tools) {
    refuse_message(index, "tools", "tools", "no tools: Phi-3.5-vision's template has no place for them",
                   "Describe them in the system message's text.");
  }
  for (size_t i = 0; i < message.parts.size(); ++i) {
    if (message.parts[i].kind != ContentPart::Kind::kAudio) continue;
    refuse_message(index, "content[" + std::to_string(i) + "]", "an audio", "text or an image",
                   "Phi-3.5-vision can't hear; Phi-4-multimodal can.");
  }
}

// How the numbers of pictures are written where they are checked.
struct Numbering {
  const char* where;
  const char* before;
  const char* behind;

  std::string name(int64_t number) const { return before + std::to_string(number) + behind; }
};

[[noreturn]] void refuse_numbers(const Numbering& numbering, const std::string& found, size_t images,
                                 const std::string& remedy) {
  std::string expected = "none, for no picture is given";
  if (images == 1) expected = numbering.name(1) + " once, for the one picture";
  if (images > 1) {
    expected = numbering.name(1) + " to " + numbering.name(static_cast<int64_t>(images)) +
               ", once each and in this order, for " + std::to_string(images) + " pictures";
  }
  throw Error(ErrorKind::kInput, numbering.where, found, expected, remedy);
}

void check_numbers(const std::vector<int64_t>& numbers, size_t images, const Numbering& numbering) {
  std::vector<bool> seen(images + 1, false);
  for (const int64_t number : numbers) {
    if (number < 1 || number > static_cast<int64_t>(images)) {
      const std::string many = "a number above " + std::to_string(kMaxMarkerNumber - 1);
      refuse_numbers(numbering, number < kMaxMarkerNumber ? numbering.name(number) : many, images,
                     "Number the pictures from 1, and give each its picture.");
    }
    if (seen[static_cast<size_t>(number)]) {
      refuse_numbers(numbering, numbering.name(number) + " repeated", images,
                     "Give the picture twice to show it twice, each with its own number.");
    }
    seen[static_cast<size_t>(number)] = true;
  }
  for (size_t k = 1; k <= images; ++k) {
    if (seen[k]) continue;
    refuse_numbers(numbering, "no " + numbering.name(static_cast<int64_t>(k)), images,
                   "Put it where the picture belongs, or leave the picture out.");
  }
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] == static_cast<int64_t>(i) + 1) continue;
    refuse_numbers(numbering, numbering.name(numbers[i]) + " before " + numbering.name(static_cast<int64_t>(i) + 1),
                   images, "Swap the pictures and number them as they stand in the prompt.");
  }
}

}  // namespace

std::vector<Piece> render_phi3v_chat(const std::vector<ChatMessage>& messages, const ChatOptions& options) {
  if (messages.empty()) throw Error(ErrorKind::kInput, "messages", "none", "at least one message");
  if (options.tools) {
    throw Error(ErrorKind::kInput, "tools", "tools", "no tools: Phi-3.5-vision's template has no place for them",
                "Describe them in the system message's text.");
  }
  std::vector<Piece> pieces;
  for (size_t i = 0; i < messages.size(); ++i) {
    const ChatMessage& message = messages[i];
    check_message(message, i);
    const std::string head = "<|" + message.role + "|>";
    pieces.push_back(has_control_token(message.role) ? control(head) : text(head));
    pieces.push_back(text("\n"));
    for (const ContentPart& part : message.parts) {
      if (part.kind == ContentPart::Kind::kImage) {
        pieces.push_back({Piece::Kind::kImage, ""});
        pieces.push_back(text("\n"));
      } else if (!part.text.empty()) {
        pieces.push_back(text(part.text));
      }
    }
    pieces.push_back(control("<|end|>"));
    pieces.push_back(text("\n"));
  }
  if (options.add_generation_prompt && messages.back().role != "assistant") {
    pieces.push_back(control("<|assistant|>"));
    pieces.push_back(text("\n"));
  }
  return pieces;
}

std::vector<Piece> parse_phi3v_raw_prompt(const Tokenizer& tokenizer, std::string_view prompt, size_t images) {
  check_prompt_text("prompt", prompt);
  std::vector<Piece> pieces;
  if (images == 0) {
    append_pieces(tokenizer, prompt, &pieces);
    return pieces;
  }
  std::vector<int64_t> numbers;
  size_t begin = 0;  // of the stretch behind the last tag
  for (size_t at = prompt.find(kTag); at != std::string_view::npos; at = prompt.find(kTag, at)) {
    const std::optional<Marker> marker = read_marker(prompt, at, kTag);
    if (!marker) {
      at += kTag.size();
      continue;
    }
    numbers.push_back(marker->number);
    append_pieces(tokenizer, prompt.substr(begin, at - begin), &pieces);
    pieces.push_back({Piece::Kind::kImage, ""});
    begin = at = marker->end;
  }
  append_pieces(tokenizer, prompt.substr(begin), &pieces);
  check_numbers(numbers, images, {"prompt", "<|image_", "|>"});
  return pieces;
}

void encode_phi3v_pieces(const Tokenizer& tokenizer, const std::vector<Piece>& pieces, std::vector<int32_t>* ids) {
  const std::optional<int32_t> bos = tokenizer.bos_id();
  if (!bos) {
    throw Error(ErrorKind::kCheckpoint, "tokenizer.json", "a byte-level tokenizer", "Phi-3.5-vision's, which has a BOS",
                "Use the tokenizer files of a released checkpoint.");
  }
  PieceEncoder encoder(tokenizer, ids);
  ids->push_back(*bos);
  int32_t image = 0;
  for (const Piece& piece : pieces) {
    switch (piece.kind) {
      case Piece::Kind::kText:
        encoder.text(piece.text);
        break;
      case Piece::Kind::kControl:
        encoder.control(control_token(tokenizer, piece.text, "Phi-3.5-vision"));
        break;
      case Piece::Kind::kImage:
        encoder.finish();
        ids->insert(ids->end(), {-++image, *bos});
        break;
      case Piece::Kind::kAudio:
        throw Error(ErrorKind::kInput, "prompt", "an audio", "text and images", "Phi-3.5-vision can't hear.");
    }
  }
  encoder.finish();
}

void check_phi3v_slots(std::span<const int32_t> ids, size_t images) {
  constexpr Numbering kSlots = {"token ids", "-", ""};
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < kLastPhi3vSlot) {
      throw Error(ErrorKind::kInput, "token id " + std::to_string(i), std::to_string(ids[i]),
                  "an id, or -k for picture k");
    }
    if (ids[i] >= 0) continue;
    if (i > 0 && ids[i] == ids[i - 1]) {
      refuse_numbers(kSlots, std::to_string(ids[i]) + " repeated", images,
                     "The ids seem to be expanded already: omniphi expands one id for each picture itself.");
    }
    numbers.push_back(-static_cast<int64_t>(ids[i]));
  }
  check_numbers(numbers, images, kSlots);
}

}  // namespace omniphi

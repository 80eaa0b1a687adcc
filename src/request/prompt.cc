#include "request/prompt.h"

#include <limits>

#include "base/file.h"
#include "io/json.h"

namespace omniphi {
namespace {

// A context of 131,072 ids takes about a megabyte of text.
constexpr size_t kMaxTokenIdBytes = size_t{64} << 20;

}  // namespace

void add_user_turn(Prompt* prompt, std::vector<MediaSource> media, const std::string& text) {
  ChatMessage message;
  message.role = "user";
  for (MediaSource& source : media) {
    ContentPart part;
    part.kind = source.kind == MediaKind::kImage ? ContentPart::Kind::kImage : ContentPart::Kind::kAudio;
    message.parts.push_back(part);
    prompt->media.push_back(std::move(source));
  }
  message.parts.push_back({ContentPart::Kind::kText, text});
  prompt->messages.push_back(std::move(message));
}

void add_text_turn(Prompt* prompt, const std::string& role, const std::string& text) {
  ChatMessage message;
  message.role = role;
  message.parts.push_back({ContentPart::Kind::kText, text});
  prompt->messages.push_back(std::move(message));
}

std::vector<int32_t> parse_token_ids(std::string_view json, const std::string& where) {
  const nlohmann::json list = parse_json(json, where, ErrorKind::kInput);
  if (!list.is_array()) throw Error(ErrorKind::kInput, where, show_json(list), "a list of token ids");
  if (list.empty()) throw Error(ErrorKind::kInput, where, "an empty list", "at least one token id");
  std::vector<int32_t> ids;
  ids.reserve(list.size());
  for (const nlohmann::json& entry : list) {
    constexpr int64_t kLowest = std::numeric_limits<int32_t>::min(), kHighest = std::numeric_limits<int32_t>::max();
    bool fits = false;
    if (entry.is_number_unsigned()) {
      fits = entry.get<uint64_t>() <= static_cast<uint64_t>(kHighest);
    } else if (entry.is_number_integer()) {
      fits = entry.get<int64_t>() >= kLowest && entry.get<int64_t>() <= kHighest;
    }
    if (!fits) {
      throw Error(ErrorKind::kInput, where + "[" + std::to_string(ids.size()) + "]", show_json(entry),
                  "a token id: an integer from 0 on, or -k for picture k of a Phi-3.5-vision prompt");
    }
    ids.push_back(entry.get<int32_t>());
  }
  return ids;
}

std::vector<int32_t> read_token_ids(const std::filesystem::path& path) {
  const std::filesystem::path source = path == "-" ? "/dev/stdin" : path;
  return parse_token_ids(read_file(source, kMaxTokenIdBytes, ErrorKind::kInput), path.string());
}

}  // namespace omniphi

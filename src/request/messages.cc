#include "request/messages.h"

#include <array>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "io/json.h"

namespace omniphi {
namespace {

// Keeps keys in the order given, which tools must be rendered in.
using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& where, const std::string& found, const std::string& expected,
                         const std::string& remedy = "") {
  throw Error(ErrorKind::kInput, where, found, expected, remedy);
}

std::string shown(const Json& value) { return show_json(nlohmann::json(value)); }

std::string joined(std::initializer_list<std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

void check_keys(const Json& object, const std::string& where, std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : object.items()) {
    bool found = false;
    for (const std::string_view name : known) found = found || key == name;
    if (!found) refuse(where, "the key " + show_text(key), "one of the keys " + joined(known));
  }
}

const Json& object_at(const Json& parent, const std::string& key, const std::string& where) {
  const auto it = parent.find(key);
  if (it == parent.end()) refuse(where, "no " + key, "the key " + key);
  if (!it->is_object()) refuse(where + "." + key, shown(*it), "an object");
  return *it;
}

const std::string& string_at(const Json& parent, const std::string& key, const std::string& where) {
  const auto it = parent.find(key);
  if (it == parent.end()) refuse(where, "no " + key, "the key " + key);
  if (!it->is_string()) refuse(where + "." + key, shown(*it), "text");
  return it->get_ref<const std::string&>();
}

// Reads one list of messages into a Prompt.
class MessageReader {
 public:
  MessageReader(Prompt* prompt, const std::filesystem::path& folder) : prompt_(prompt), folder_(folder) {}

  void read_list(const Json& list, const std::string& where) {
    if (!list.is_array()) refuse(where, shown(list), "a list of messages");
    if (list.empty()) refuse(where, "an empty list", "at least one message");
    for (size_t i = 0; i < list.size(); ++i) read_message(list[i], where + "[" + std::to_string(i) + "]");
  }

 private:
  void read_message(const Json& json, const std::string& where);
  void read_tools(const Json& json, const std::string& where, ChatMessage* message);
  void refuse_what_has_no_form(const Json& json, const std::string& where);
  void read_part(const Json& json, const std::string& where, ChatMessage* message);
  void read_image(const Json& part, const std::string& where, ChatMessage* message);
  void read_input_audio(const Json& part, const std::string& where, ChatMessage* message);
  void add_media(MediaSource source, ChatMessage* message);

  Prompt* prompt_;
  const std::filesystem::path& folder_;
};

std::string role_of(const Json& json, const std::string& where) {
  const std::string& role = string_at(json, "role", where);
  if (role == "developer") return "system";
  for (const std::string_view known : {"system", "user", "assistant", "tool", "tool_response"}) {
    if (role == known) return role;
  }
  refuse(where + ".role", show_text(role), "system, developer, user, assistant, tool or tool_response");
}

void MessageReader::read_message(const Json& json, const std::string& where) {
  if (!json.is_object()) refuse(where, shown(json), "a message: an object with role and content");
  ChatMessage message;
  message.role = role_of(json, where);
  refuse_what_has_no_form(json, where);
  check_keys(json, where,
             {"role", "content", "name", "tools", "tool_call_id", "tool_calls", "function_call", "audio", "refusal"});
  for (const char* key : {"name", "tool_call_id"}) {
    if (!json.contains(key) || json[key].is_null()) continue;
    string_at(json, key, where);
    prompt_->warnings.push_back(where + "." + key + " has no effect: the model's chat template has no place for it");
  }
  if (json.contains("tools")) read_tools(json["tools"], where, &message);

  const auto content = json.find("content");
  if (content == json.end()) refuse(where, "no content", "the key content");
  if (content->is_string()) {
    message.parts.push_back({ContentPart::Kind::kText, content->get<std::string>()});
  } else if (content->is_array()) {
    for (size_t i = 0; i < content->size(); ++i) {
      read_part((*content)[i], where + ".content[" + std::to_string(i) + "]", &message);
    }
  } else {
    refuse(where + ".content", shown(*content), "text or a list of parts");
  }
  prompt_->messages.push_back(std::move(message));
}

// Keys that OpenAI's assistant messages carry as null, or with something that Phi-4's template can't say.
void MessageReader::refuse_what_has_no_form(const Json& json, const std::string& where) {
  for (const char* key : {"tool_calls", "function_call", "audio", "refusal"}) {
    const auto it = json.find(key);
    if (it == json.end() || it->is_null()) continue;
    refuse(where + "." + key, shown(*it), "no such key",
           "the model's chat template has no form for it: leave it out, and put what was said into content");
  }
}

void MessageReader::read_tools(const Json& json, const std::string& where, ChatMessage* message) {
  if (message->role != "system") {
    refuse(where + ".tools", "tools in a message of role " + message->role, "tools in a system message",
           "or beside the messages: {\"messages\": [...], \"tools\": [...]}");
  }
  if (json.is_string()) {
    message->tools = json.get<std::string>();
  } else if (json.is_array()) {
    message->tools = json.dump();
  } else {
    refuse(where + ".tools", shown(json), "a list of tools, or their JSON as text");
  }
}

void MessageReader::read_part(const Json& json, const std::string& where, ChatMessage* message) {
  if (!json.is_object()) refuse(where, shown(json), "a part: an object with a type");
  const std::string& type = string_at(json, "type", where);
  if (type == "text") {
    check_keys(json, where, {"type", "text"});
    message->parts.push_back({ContentPart::Kind::kText, string_at(json, "text", where)});
  } else if (type == "image_url") {
    read_image(json, where, message);
  } else if (type == "input_audio") {
    read_input_audio(json, where, message);
  } else if (type == "audio_url") {
    check_keys(json, where, {"type", "audio_url"});
    const Json& audio = object_at(json, "audio_url", where);
    const std::string inner = where + ".audio_url";
    check_keys(audio, inner, {"url"});
    add_media(media_from_url(MediaKind::kAudio, string_at(audio, "url", inner), folder_, inner + ".url"), message);
  } else {
    const std::string known = "text, image_url, input_audio or audio_url";
    if (type.find("video") != std::string::npos) {
      refuse(where, "a video (part of type " + show_text(type) + ")", known,
             "the model takes no video: send frames as images");
    }
    if (type.find("file") != std::string::npos || type.find("document") != std::string::npos) {
      refuse(where, "a document (part of type " + show_text(type) + ")", known,
             "the model takes no documents: send pages as images or their text");
    }
    refuse(where + ".type", show_text(type), known);
  }
}

void MessageReader::read_image(const Json& part, const std::string& where, ChatMessage* message) {
  check_keys(part, where, {"type", "image_url"});
  const Json& image = object_at(part, "image_url", where);
  const std::string inner = where + ".image_url";
  check_keys(image, inner, {"url", "detail"});
  MediaSource source = media_from_url(MediaKind::kImage, string_at(image, "url", inner), folder_, inner + ".url");
  if (image.contains("detail")) {
    const std::string& detail = string_at(image, "detail", inner);
    if (detail != "auto" && detail != "high" && detail != "low") {
      refuse(inner + ".detail", show_text(detail), "auto, high or low");
    }
    if (detail == "low") source.max_crops = 1;
  }
  add_media(std::move(source), message);
}

void MessageReader::read_input_audio(const Json& part, const std::string& where, ChatMessage* message) {
  check_keys(part, where, {"type", "input_audio"});
  const Json& audio = object_at(part, "input_audio", where);
  const std::string inner = where + ".input_audio";
  check_keys(audio, inner, {"data", "format"});
  if (audio.contains("format")) {
    const std::string& format = string_at(audio, "format", inner);
    constexpr std::array<std::string_view, 10> kFormats = {"wav", "flac", "mp3", "ogg",  "opus",
                                                           "m4a", "aac",  "mp4", "webm", "aiff"};
    bool known = false;
    for (const std::string_view name : kFormats) known = known || format == name;
    // The decoder goes by the bytes; the name only has to be one that it could be.
    if (!known) {
      refuse(inner + ".format", show_text(format), "wav, flac, mp3, ogg, opus, m4a, aac, mp4, webm or aiff");
    }
  }
  add_media(media_from_data(MediaKind::kAudio, string_at(audio, "data", inner), folder_, inner + ".data"), message);
}

void MessageReader::add_media(MediaSource source, ChatMessage* message) {
  ContentPart part;
  part.kind = source.kind == MediaKind::kImage ? ContentPart::Kind::kImage : ContentPart::Kind::kAudio;
  message->parts.push_back(part);
  prompt_->media.push_back(std::move(source));
}

void read_request_tools(const Json& tools, const std::string& where, Prompt* prompt) {
  if (!tools.is_array()) refuse(where, shown(tools), "a list of tools");
  for (size_t i = 0; i < tools.size(); ++i) {
    if (!tools[i].is_object()) refuse(where + "[" + std::to_string(i) + "]", shown(tools[i]), "an object");
  }
  if (!tools.empty()) prompt->tools = tools.dump();
}

}  // namespace

Json parse_request_json(std::string_view json, const std::string& where) {
  // The first pass checks what the second, which keeps the order of keys, doesn't: depth, UTF-8, keys that occur twice.
  parse_json(json, where, ErrorKind::kInput, kMaxMessageDepth);
  return Json::parse(json.begin(), json.end());
}

Prompt parse_messages(std::string_view json, const std::string& where, const std::filesystem::path& folder) {
  return request_prompt(parse_request_json(json, where), where, folder);
}

Prompt request_prompt(const Json& root, const std::string& where, const std::filesystem::path& folder) {
  Prompt prompt;
  MessageReader reader(&prompt, folder);
  if (root.is_object()) {
    check_keys(root, where, {"messages", "tools"});
    if (!root.contains("messages")) refuse(where, "no messages", "the key messages");
    if (root.contains("tools")) read_request_tools(root["tools"], where + ": tools", &prompt);
    reader.read_list(root["messages"], where + ": messages");
  } else if (root.is_array()) {
    reader.read_list(root, where + ": messages");
  } else {
    refuse(where, shown(root), "a list of messages, or an object with messages and tools");
  }
  return prompt;
}

Prompt read_messages(const std::filesystem::path& path) {
  const std::filesystem::path source = path == "-" ? "/dev/stdin" : path;
  return parse_messages(read_file(source, kMaxMessageBytes, ErrorKind::kInput), path.string(), path.parent_path());
}

}  // namespace omniphi

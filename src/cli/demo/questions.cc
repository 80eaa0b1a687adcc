#include "cli/demo/questions.h"

#include <string_view>

#include "base/error.h"
#include "io/json.h"

namespace omniphi::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxBytes = size_t{1} << 20;

std::optional<std::string> text_at(const nlohmann::json& entry, const char* key, const std::string& where) {
  const auto it = entry.find(key);
  if (it == entry.end()) return std::nullopt;
  if (!it->is_string()) throw Error(ErrorKind::kInput, where + "." + key, show_json(*it), "text");
  return it->get<std::string>();
}

DemoQuestion read_question(const nlohmann::json& entry, const std::string& where, const fs::path& folder) {
  if (!entry.is_object()) throw Error(ErrorKind::kInput, where, show_json(entry), "an object with title and text");
  for (const auto& [key, value] : entry.items()) {
    constexpr std::string_view kKeys = " title image audio text expect ";
    if (kKeys.find(" " + key + " ") == std::string_view::npos) {
      throw Error(ErrorKind::kInput, where, "the key " + show_text(key), "title, image, audio, text and expect");
    }
  }
  DemoQuestion question;
  const auto title = text_at(entry, "title", where), text = text_at(entry, "text", where);
  if (!title || !text) {
    throw Error(ErrorKind::kInput, where, title ? "no text" : "no title", "both title and text");
  }
  question.title = *title;
  question.text = *text;
  if (const auto image = text_at(entry, "image", where)) question.image = folder / *image;
  if (const auto audio = text_at(entry, "audio", where)) question.audio = folder / *audio;
  question.expect = text_at(entry, "expect", where);
  return question;
}

}  // namespace

std::vector<DemoQuestion> read_questions(const fs::path& file) {
  const nlohmann::json list = read_json(file, kMaxBytes, ErrorKind::kInput);
  if (!list.is_array() || list.empty()) {
    throw Error(ErrorKind::kInput, file.string(), show_json(list), "a list of questions");
  }
  std::vector<DemoQuestion> questions;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string where = file.string() + ": [" + std::to_string(i) + "]";
    questions.push_back(read_question(list[i], where, file.parent_path()));
  }
  return questions;
}

std::string shell_word(const std::string& text) {
  const auto only = [&text](std::string_view allowed) {
    for (const char c : text) {
      const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
      if (!letter && allowed.find(c) == std::string_view::npos) return false;
    }
    return true;
  };
  if (!text.empty() && only("-_./:=@%+,")) return text;
  if (only("-_./:=@%+, ?*'();<>{}[]&#")) return "\"" + text + "\"";  // reads better where it may
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

std::string short_path(const fs::path& path) {
  std::error_code code;
  const fs::path relative = fs::proximate(path, code);
  return code || relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

std::string command_of(const std::string& start, const DemoQuestion& question) {
  std::string command = start;
  if (question.image) command += " --image " + shell_word(short_path(*question.image));
  if (question.audio) command += " --audio " + shell_word(short_path(*question.audio));
  if (!question.text.empty()) command += " " + shell_word(question.text);
  return command;
}

}  // namespace omniphi::cli

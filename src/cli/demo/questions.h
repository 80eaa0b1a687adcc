// What `omniphi demo` asks, read from a file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace omniphi::cli {

struct DemoQuestion {
  std::string title;
  std::optional<std::filesystem::path> image, audio;
  std::string text;                   // may be empty when there are media
  std::optional<std::string> expect;  // the right answer
};

// Reads a JSON list of objects {"title", "image"?, "audio"?, "text", "expect"?}; paths in it start from the file's
// folder. Throws kInput naming the file and the entry.
std::vector<DemoQuestion> read_questions(const std::filesystem::path& file);

// The command that asks the same, as one types it into a shell: media, then the text. `start` is the program with what
// stands before the media; paths below the current folder are shortened to it.
std::string command_of(const std::string& start, const DemoQuestion& question);

// Text as one word of a POSIX shell: as it is when nothing in it is special.
std::string shell_word(const std::string& text);

// A path from the current folder, when it lies below that.
std::string short_path(const std::filesystem::path& path);

}  // namespace omniphi::cli

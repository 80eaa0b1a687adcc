#include "request/media_source.h"

#include <array>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "io/json.h"
#include "request/base64.h"

namespace omniphi {
namespace {

// ".webm" and ".ogg" are not here: they may hold audio alone, and the audio decoder refuses a video stream by name.
constexpr std::array<std::string_view, 18> kVideoExtensions = {".mp4", ".m4v", ".mkv", ".mov", ".qt",   ".avi",
                                                               ".wmv", ".flv", ".f4v", ".mpg", ".ts",   ".mpeg",
                                                               ".mts", ".3gp", ".3g2", ".ogv", ".m2ts", ".vob"};

[[noreturn]] void refuse_video(MediaKind kind, const std::string& name) {
  throw Error(ErrorKind::kInput, name, "a video", std::string("an ") + media_kind_name(kind),
              "the model takes no video: extract frames as images, or the sound track (ffmpeg -i VIDEO -vn sound.m4a)");
}

void refuse_by_name(MediaKind kind, const std::string& name, const std::filesystem::path& path) {
  const std::string extension = ascii_lower(path.extension().string());
  for (const std::string_view video : kVideoExtensions) {
    if (extension == video) refuse_video(kind, name);
  }
  if (extension == ".pdf") {
    throw Error(ErrorKind::kInput, name, "a PDF document", std::string("an ") + media_kind_name(kind),
                "the model takes no documents: render the pages as images (pdftoppm -png FILE page)");
  }
}

void refuse_by_type(MediaKind kind, const std::string& where, const std::string& type) {
  if (type.rfind("video/", 0) == 0) refuse_video(kind, where);
  const bool fits = type.empty() || type == "application/octet-stream" || type == "text/plain" ||
                    type.rfind(kind == MediaKind::kImage ? "image/" : "audio/", 0) == 0 ||
                    (kind == MediaKind::kAudio && type == "application/ogg");
  if (!fits) {
    throw Error(ErrorKind::kInput, where, "a data URL of type " + show_text(type),
                kind == MediaKind::kImage ? "image/..." : "audio/...");
  }
}

// "https" of "https://host/..."; empty when the text has no scheme.
std::string scheme_of(std::string_view url) {
  const size_t end = url.find("://");
  if (end == std::string_view::npos || end == 0) return "";
  for (const char c : url.substr(0, end)) {
    const bool allowed =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
    if (!allowed) return "";
  }
  return ascii_lower(url.substr(0, end));
}

MediaSource source_of_bytes(MediaKind kind, std::string bytes, const std::string& where) {
  MediaSource source;
  source.kind = kind;
  source.name = where;
  source.bytes = std::move(bytes);
  if (source.bytes.empty()) throw Error(ErrorKind::kInput, where, "no data", "an encoded file");
  if (source.bytes.size() > max_media_bytes(kind)) {
    throw Error(ErrorKind::kInput, where, std::to_string(source.bytes.size()) + " bytes",
                "at most " + std::to_string(max_media_bytes(kind)) + " bytes");
  }
  return source;
}

MediaSource source_of_data_url(MediaKind kind, std::string_view url, const std::string& where) {
  // The type is looked at first: a video is refused without decoding it.
  refuse_by_type(kind, where, ascii_lower(url.substr(5, url.find_first_of(";,") - 5)));
  std::optional<DataUrl> data = decode_data_url(url);
  if (!data) {
    throw Error(ErrorKind::kInput, where, "a data URL that can't be decoded: " + show_text(url.substr(0, 60)),
                "data:TYPE;base64,DATA");
  }
  return source_of_bytes(kind, std::move(data->bytes), where);
}

std::filesystem::path path_of_file_url(std::string_view url, const std::string& where) {
  std::string_view rest = url.substr(7);
  if (starts_with_ignoring_case(rest, "localhost/")) rest.remove_prefix(9);
  const std::optional<std::string> path = decode_percent(rest);
  if (!path || path->empty() || path->front() != '/' || path->find('\0') != std::string::npos) {
    throw Error(ErrorKind::kInput, where, show_text(url), "file:///ABSOLUTE/PATH");
  }
  return *path;
}

}  // namespace

const char* media_kind_name(MediaKind kind) { return kind == MediaKind::kImage ? "image" : "audio"; }

size_t max_media_bytes(MediaKind kind) { return kind == MediaKind::kImage ? size_t{256} << 20 : size_t{512} << 20; }

MediaSource media_from_path(MediaKind kind, const std::filesystem::path& path) {
  if (path.empty()) throw Error(ErrorKind::kInput, media_kind_name(kind), "an empty path", "a file");
  MediaSource source;
  source.kind = kind;
  source.name = path.string();
  source.path = path;
  refuse_by_name(kind, source.name, path);
  return source;
}

MediaSource media_from_url(MediaKind kind, std::string_view url, const std::filesystem::path& folder,
                           const std::string& where) {
  if (starts_with_ignoring_case(url, "data:")) return source_of_data_url(kind, url, where);
  const std::string scheme = scheme_of(url);
  if (scheme == "file") return media_from_path(kind, path_of_file_url(url, where));
  if (!scheme.empty()) {
    refuse_by_name(kind, where, std::filesystem::path(url.substr(0, url.find_first_of("?#"))));
    throw Error(ErrorKind::kInput, where, show_text(url), "a path, a file: URL or a data: URL",
                "nothing is fetched from the network: download the file and give its path");
  }
  if (url.empty() || url.find('\0') != std::string_view::npos) {
    throw Error(ErrorKind::kInput, where, show_text(url), "a path, a file: URL or a data: URL");
  }
  return media_from_path(kind, folder / std::filesystem::path(url));
}

MediaSource media_from_data(MediaKind kind, std::string_view data, const std::filesystem::path& folder,
                            const std::string& where) {
  // Neither '.' nor ':' belongs to base64, so this can't mistake data for a path.
  if (data.find_first_of(".:") != std::string_view::npos) return media_from_url(kind, data, folder, where);
  std::optional<std::string> bytes = decode_base64(data);
  if (!bytes) {
    throw Error(ErrorKind::kInput, where, show_text(data.substr(0, 60)), "base64 of an encoded file, or a path");
  }
  return source_of_bytes(kind, std::move(*bytes), where);
}

void check_media(const MediaSource& source) {
  if (source.path.empty()) return;
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(source.path, error);
  const std::string expected = std::string("an ") + media_kind_name(source.kind) + " file";
  if (error || !std::filesystem::exists(status)) {
    throw Error(ErrorKind::kInput, source.name, "no such file", expected);
  }
  if (std::filesystem::is_directory(status)) throw Error(ErrorKind::kInput, source.name, "a folder", expected);
  if (!std::filesystem::is_regular_file(status)) return;  // its size is known only when it has been read
  const uintmax_t size = std::filesystem::file_size(source.path, error);
  if (!error && size > max_media_bytes(source.kind)) {
    throw Error(ErrorKind::kInput, source.name, std::to_string(size) + " bytes",
                "at most " + std::to_string(max_media_bytes(source.kind)) + " bytes");
  }
}

std::string load_media(const MediaSource& source) {
  if (source.path.empty()) return source.bytes;
  return read_file(source.path, max_media_bytes(source.kind), ErrorKind::kInput);
}

}  // namespace omniphi

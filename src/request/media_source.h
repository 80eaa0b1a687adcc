// Where an image or an audio comes from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace omniphi {

enum class MediaKind : uint8_t { kImage, kAudio };

// "image" or "audio".
const char* media_kind_name(MediaKind kind);

// A medium that was asked for; nothing of it has been read unless it came inside the request.
struct MediaSource {
  MediaKind kind = MediaKind::kImage;
  std::string name;            // how errors and progress call it: the path, or the place of the data in the request
  std::filesystem::path path;  // the file; empty when the bytes are here
  std::string bytes;           // decoded from a data: URL or base64
  int max_crops = 0;           // images: limit on local crops for this one; 0: the request's
};

// Largest encoded file that is read, in bytes: what the decoders accept.
size_t max_media_bytes(MediaKind kind);

// A file. Throws kInput naming it, before its bytes are read, when its name says that it is a video or a document.
MediaSource media_from_path(MediaKind kind, const std::filesystem::path& path);

// A data: or file: URL, or a path, relative to `folder`. `where` is the field that holds it. Throws kInput for http(s)
// and other schemes, for data that isn't what it says, and as media_from_path() does.
MediaSource media_from_url(MediaKind kind, std::string_view url, const std::filesystem::path& folder,
                           const std::string& where);

// Base64 text, or (which base64 can't be) a data: or file: URL or a path with a dot in it.
MediaSource media_from_data(MediaKind kind, std::string_view data, const std::filesystem::path& folder,
                            const std::string& where);

// Throws kInput naming the file when it isn't there, is a folder, or is too large: before a model is loaded for it.
void check_media(const MediaSource& source);

// The encoded bytes. Throws as check_media() does.
std::string load_media(const MediaSource& source);

}  // namespace omniphi

#include "base/file.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

namespace omniphi {

std::string read_file(const std::filesystem::path& path, size_t max_bytes, ErrorKind kind) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (!std::filesystem::exists(status)) throw Error(kind, path.string(), "there is no such file", "a readable file");
  if (std::filesystem::is_directory(status)) throw Error(kind, path.string(), "this is a folder", "a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(kind, path.string(), std::string("can't open: ") + std::strerror(errno), "a readable file");
  std::string bytes;
  if (std::filesystem::is_regular_file(status)) {
    const auto size = std::filesystem::file_size(path, code);
    if (!code && size > max_bytes) {
      throw Error(kind, path.string(), std::to_string(size) + " bytes",
                  "at most " + std::to_string(max_bytes) + " bytes");
    }
  }
  char chunk[65536];
  while (in.read(chunk, sizeof chunk) || in.gcount() > 0) {  // pipes have no size: read until they end
    bytes.append(chunk, static_cast<size_t>(in.gcount()));
    if (bytes.size() > max_bytes) {
      throw Error(kind, path.string(), "more than " + std::to_string(max_bytes) + " bytes",
                  "at most " + std::to_string(max_bytes) + " bytes");
    }
  }
  return bytes;
}

void write_file(const std::filesystem::path& path, const std::string& bytes) {
  const std::filesystem::path partial = path.string() + ".partial";
  {
    std::ofstream out(partial, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    out.flush();
    if (!out) throw Error(ErrorKind::kInternal, path.string(), std::string("can't write: ") + std::strerror(errno));
  }
  std::error_code code;
  std::filesystem::rename(partial, path, code);
  if (code) throw Error(ErrorKind::kInternal, path.string(), "can't rename: " + code.message());
}

}  // namespace omniphi

// A file mapped into memory, read-only.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

#include "base/error.h"

namespace omniphi {

// Pages come in when they are touched and are shared with every process that maps the same file; nothing is copied.
// The file must not be truncated while it is mapped (the system would raise SIGBUS on access).
class MappedFile {
 public:
  MappedFile() = default;
  // Throws an Error of `kind` that names the file when it is absent, not a regular file, or can't be mapped. An empty
  // file gives an empty map.
  MappedFile(const std::filesystem::path& path, ErrorKind kind);
  ~MappedFile();

  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {static_cast<const std::byte*>(data_), size_}; }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace omniphi

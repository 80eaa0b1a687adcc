// The safetensors format (https://github.com/huggingface/safetensors#format): eight bytes of little-endian header
// length, a JSON header {name: {dtype, shape, data_offsets}}, then the tensors' bytes without gaps.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "io/mapped_file.h"
#include "tensor/tensor.h"

namespace omniphi {

// Longest header that is read; the format's own limit.
inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;

// One entry of the header.
struct TensorEntry {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  uint64_t begin = 0;  // first byte in the file
  uint64_t end = 0;    // one past its last byte in the file
};

struct SafetensorsHeader {
  std::vector<TensorEntry> tensors;             // in the order of their bytes
  std::map<std::string, std::string> metadata;  // "__metadata__"
};

// Reads the header of a file whose first bytes (all of them, or at least the header) are `bytes` and whose length is
// `file_size`. Refuses, as an Error of `kind` about `where`: a header longer than 100 MB or than the file, anything but
// JSON of the form above, names twice, dtypes that omniphi doesn't know, negative or overflowing extents, offsets that
// don't fit the shape, and holes, overlaps or bytes left over.
SafetensorsHeader parse_safetensors_header(std::span<const std::byte> bytes, uint64_t file_size,
                                           const std::string& where, ErrorKind kind);

// A mapped file. Views point into the map and live as long as this object (moving it keeps them valid).
class SafetensorsFile {
 public:
  // Throws an Error of `kind` that names the file.
  static SafetensorsFile open(const std::filesystem::path& path, ErrorKind kind = ErrorKind::kCheckpoint);

  const std::filesystem::path& path() const { return path_; }
  uint64_t file_size() const { return map_.size(); }
  const std::vector<TensorEntry>& tensors() const { return header_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }

  // Null when there is no tensor of that name.
  const TensorEntry* find(std::string_view name) const;

  View view(const TensorEntry& entry) const;

  // The tensor of that name; throws an Error of the kind given to open() when there is none.
  View tensor(std::string_view name) const;

 private:
  std::filesystem::path path_;
  ErrorKind kind_ = ErrorKind::kCheckpoint;
  MappedFile map_;
  SafetensorsHeader header_;
  std::map<std::string, size_t, std::less<>> index_;
};

}  // namespace omniphi

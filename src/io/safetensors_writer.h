// Writing safetensors files without holding them in memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "io/safetensors.h"
#include "tensor/tensor.h"

namespace omniphi {

// Name, type and shape of a tensor to come.
struct TensorSpec {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
};

// Lays the whole file out first, so that tensors may be written in any order, in pieces, and from several threads at
// once. What is never written stays a hole: it reads as zeros and takes no disk on file systems with sparse files.
// The bytes go to PATH.partial, which finish() renames; without finish() nothing appears at PATH.
class SafetensorsWriter {
 public:
  // Tensors lie in the order given, without gaps as the format demands; the first one starts at a multiple of 8 bytes.
  // Put wider types first to keep all aligned. Throws kInternal with the system's reason, or when a name occurs twice.
  SafetensorsWriter(std::filesystem::path path, const std::vector<TensorSpec>& specs,
                    const std::map<std::string, std::string>& metadata = {});
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

  // Entries in the order of the specs, with their offsets in the file.
  const std::vector<TensorEntry>& tensors() const { return tensors_; }
  uint64_t file_size() const { return file_size_; }

  // Writes `bytes` at `offset` bytes into tensor number `index`. Thread-safe.
  void write(size_t index, uint64_t offset, std::span<const std::byte> bytes);

  // Gives the file its name.
  void finish();

 private:
  void write_at(uint64_t position, std::span<const std::byte> bytes);

  std::filesystem::path path_, partial_;
  std::vector<TensorEntry> tensors_;
  uint64_t file_size_ = 0;
  int fd_ = -1;
};

// A tensor that is in memory.
struct NamedView {
  std::string name;
  View view;
};

// Writes all tensors in the order given.
void write_safetensors(const std::filesystem::path& path, const std::vector<NamedView>& tensors,
                       const std::map<std::string, std::string>& metadata = {});

}  // namespace omniphi

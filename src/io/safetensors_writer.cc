#include "io/safetensors_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <set>
#include <system_error>
#include <utility>

#include "io/json.h"

namespace omniphi {
namespace {

// nlohmann's ordered object keeps the order of insertion, so that the header lists tensors as they lie.
std::string header_text(const std::vector<TensorEntry>& tensors, const std::map<std::string, std::string>& metadata) {
  nlohmann::ordered_json root = nlohmann::ordered_json::object();
  if (!metadata.empty()) root["__metadata__"] = metadata;
  for (const TensorEntry& entry : tensors) {
    root.push_back({entry.name,
                    {{"dtype", dtype_name(entry.dtype)},
                     {"shape", entry.shape.extents()},
                     {"data_offsets", {entry.begin, entry.end}}}});
  }
  std::string text = root.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

std::vector<TensorEntry> lay_out(const std::filesystem::path& path, const std::vector<TensorSpec>& specs) {
  std::vector<TensorEntry> tensors;
  std::set<std::string> names;
  uint64_t at = 0;
  for (const TensorSpec& spec : specs) {
    if (!names.insert(spec.name).second) internal_error(path.string(), "two tensors are named " + spec.name);
    const uint64_t bytes = static_cast<uint64_t>(spec.shape.count()) * dtype_size(spec.dtype);
    tensors.push_back({spec.name, spec.dtype, spec.shape, at, at + bytes});
    at += bytes;
  }
  return tensors;
}

}  // namespace

SafetensorsWriter::SafetensorsWriter(std::filesystem::path path, const std::vector<TensorSpec>& specs,
                                     const std::map<std::string, std::string>& metadata)
    : path_(std::move(path)), partial_(path_.string() + ".partial"), tensors_(lay_out(path_, specs)) {
  const std::string text = header_text(tensors_, metadata);
  std::vector<std::byte> head(8 + text.size());
  for (size_t i = 0; i < 8; ++i) head[i] = static_cast<std::byte>(static_cast<uint64_t>(text.size()) >> (8 * i));
  std::memcpy(head.data() + 8, text.data(), text.size());
  file_size_ = head.size();
  for (TensorEntry& entry : tensors_) {
    entry.begin += head.size();
    entry.end += head.size();
    file_size_ = entry.end;
  }
  fd_ = ::open(partial_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd_ < 0) throw Error(ErrorKind::kInternal, path_.string(), std::string("can't create: ") + std::strerror(errno));
  if (::ftruncate(fd_, static_cast<off_t>(file_size_)) != 0) {
    const std::string reason = std::strerror(errno);
    ::close(fd_);
    ::unlink(partial_.c_str());
    throw Error(ErrorKind::kInternal, path_.string(),
                "can't make it " + std::to_string(file_size_) + " bytes long: " + reason);
  }
  write_at(0, head);
}

SafetensorsWriter::~SafetensorsWriter() {
  if (fd_ < 0) return;
  ::close(fd_);
  ::unlink(partial_.c_str());
}

void SafetensorsWriter::write(size_t index, uint64_t offset, std::span<const std::byte> bytes) {
  const TensorEntry& entry = tensors_.at(index);
  if (offset > entry.end - entry.begin || bytes.size() > entry.end - entry.begin - offset) {
    internal_error(path_.string(), "writing past the end of " + entry.name);
  }
  write_at(entry.begin + offset, bytes);
}

void SafetensorsWriter::write_at(uint64_t position, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      throw Error(ErrorKind::kInternal, path_.string(), std::string("can't write: ") + std::strerror(errno));
    }
    position += static_cast<uint64_t>(written);
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
}

void SafetensorsWriter::finish() {
  if (::close(std::exchange(fd_, -1)) != 0) {
    throw Error(ErrorKind::kInternal, path_.string(), std::string("can't write: ") + std::strerror(errno));
  }
  std::error_code code;
  std::filesystem::rename(partial_, path_, code);
  if (code) throw Error(ErrorKind::kInternal, path_.string(), "can't rename: " + code.message());
}

void write_safetensors(const std::filesystem::path& path, const std::vector<NamedView>& tensors,
                       const std::map<std::string, std::string>& metadata) {
  std::vector<TensorSpec> specs;
  for (const NamedView& tensor : tensors) specs.push_back({tensor.name, tensor.view.dtype, tensor.view.shape});
  SafetensorsWriter writer(path, specs, metadata);
  for (size_t i = 0; i < tensors.size(); ++i) {
    writer.write(i, 0, {static_cast<const std::byte*>(tensors[i].view.data), tensors[i].view.bytes()});
  }
  writer.finish();
}

}  // namespace omniphi

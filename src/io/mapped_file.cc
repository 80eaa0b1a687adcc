#include "io/mapped_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace omniphi {
namespace {

class Descriptor {
 public:
  explicit Descriptor(const std::filesystem::path& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

MappedFile::MappedFile(const std::filesystem::path& path, ErrorKind kind) {
  const auto fail = [&](const std::string& what) {
    throw Error(kind, path.string(), what + ": " + std::strerror(errno), "a readable file");
  };
  const Descriptor file(path);
  if (file.get() < 0) fail("can't open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) fail("can't read its size");
  if (!S_ISREG(info.st_mode)) throw Error(kind, path.string(), "not a regular file", "a regular file");
  if (info.st_size == 0) return;
  void* data = ::mmap(nullptr, static_cast<size_t>(info.st_size), PROT_READ, MAP_SHARED, file.get(), 0);
  if (data == MAP_FAILED) fail("can't map it");
  data_ = data;
  size_ = static_cast<size_t>(info.st_size);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace omniphi

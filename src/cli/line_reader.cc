#include "cli/line_reader.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "base/error.h"

namespace omniphi::cli {
namespace {

constexpr size_t kReadBytes = 65536;

[[noreturn]] void refuse(const std::string& name) {
  throw Error(ErrorKind::kInput, name, std::system_category().message(errno), "a file that can be read");
}

bool has_bytes(int descriptor) {
  pollfd waiting{descriptor, POLLIN, 0};
  return ::poll(&waiting, 1, 0) > 0;
}

}  // namespace

LineReader::LineReader(const std::string& path, size_t max_line_bytes)
    : name_(path == "-" ? "standard input" : path), max_line_bytes_(max_line_bytes) {
  descriptor_ = path == "-" ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor_ < 0) refuse(name_);
}

LineReader::~LineReader() {
  if (descriptor_ != STDIN_FILENO) ::close(descriptor_);
}

bool LineReader::take_line(std::string* line) {
  const size_t found = buffer_.find('\n', searched_);
  searched_ = buffer_.size();
  size_t end = found;
  if (found == std::string::npos) {
    if (!at_end_ || begin_ == buffer_.size()) return false;
    end = buffer_.size();  // a last line without an end
  }
  const size_t next = found == std::string::npos ? end : end + 1;
  if (end > begin_ && buffer_[end - 1] == '\r') --end;
  line->assign(buffer_, begin_, end - begin_);
  begin_ = searched_ = next;
  return true;
}

bool LineReader::next(std::string* line, Wait wait) {
  while (!take_line(line)) {
    if (at_end_ || (wait == Wait::kNever && !has_bytes(descriptor_))) return false;
    buffer_.erase(0, begin_);
    searched_ -= begin_;
    begin_ = 0;
    const size_t size = buffer_.size();
    if (size > max_line_bytes_) {
      throw Error(ErrorKind::kInput, name_, "a line beyond " + std::to_string(max_line_bytes_) + " bytes",
                  "shorter lines");
    }
    buffer_.resize(size + kReadBytes);
    const ssize_t count = ::read(descriptor_, buffer_.data() + size, kReadBytes);
    buffer_.resize(size + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count < 0 && errno != EINTR) refuse(name_);
    if (count == 0) at_end_ = true;
  }
  return true;
}

}  // namespace omniphi::cli

#include "cli/progress.h"

#include <unistd.h>

#include <chrono>
#include <cstring>
#include <iostream>
#include <memory>

namespace omniphi::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Line {
  Clock::time_point shown{};
  bool visible = false;
};

void update(Line* line, const char* phase, int64_t done, int64_t total) {
  if (done >= total) {
    if (line->visible) std::cerr << "\r\x1b[K" << std::flush;
    line->visible = false;
    return;
  }
  const Clock::time_point now = Clock::now();
  // Often enough to look alive, rarely enough to cost nothing.
  if (now - line->shown < std::chrono::milliseconds(100)) return;
  line->shown = now;
  line->visible = true;
  const bool encode = std::strcmp(phase, "encode") == 0;
  std::cerr << "\r\x1b[K" << (encode ? "encoding media" : "reading the prompt") << ": " << done << " of " << total
            << (encode ? "" : " tokens") << std::flush;
}

}  // namespace

ProgressCallback progress_line() {
  if (isatty(STDERR_FILENO) == 0) return {};
  return [line = std::make_shared<Line>()](const char* phase, int64_t done, int64_t total) {
    update(line.get(), phase, done, total);
  };
}

}  // namespace omniphi::cli

#include "base/memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

namespace omniphi {

int64_t available_memory() {
  // A container's limit counts when it is below what the machine has.
  int64_t limit = std::numeric_limits<int64_t>::max();
  std::ifstream group("/sys/fs/cgroup/memory.max");
  if (!(group >> limit)) limit = std::numeric_limits<int64_t>::max();  // "max", or no such file
  std::ifstream meminfo("/proc/meminfo");
  std::string line;
  while (std::getline(meminfo, line)) {
    std::istringstream fields(line);
    std::string name;
    int64_t kilobytes = 0;
    if (fields >> name >> kilobytes && name == "MemAvailable:") return std::min(limit, kilobytes * 1024);
  }
  return limit == std::numeric_limits<int64_t>::max() ? 0 : limit;
}

}  // namespace omniphi

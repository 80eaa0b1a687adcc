// What the machine can still give.
#pragma once

#include <cstdint>

namespace omniphi {

// Bytes that processes may take without swapping (MemAvailable, within the container's limit); 0 when the system
// doesn't say.
int64_t available_memory();

}  // namespace omniphi

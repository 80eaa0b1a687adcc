// What the machine can do at most, measured: the yardsticks of `omniphi bench`.
#pragma once

#include <cstdint>

#include "base/cpu.h"
#include "base/thread_pool.h"

namespace omniphi::cli {

// Bytes a second that all threads together read from memory: the best of several passes over a buffer far larger than
// the caches. `bytes` is the buffer's size.
double measure_read_bandwidth(ThreadPool* pool, int64_t bytes);

// float32 operations a second (a fused multiply-add counts two) of all threads together with the vectors of `isa`, from
// registers alone: the best of several runs.
double measure_fma_peak(ThreadPool* pool, Isa isa);

}  // namespace omniphi::cli

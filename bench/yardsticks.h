// What the machine can do, measured in the moment: the yardsticks that benchmarks of kernels report fractions of.
#pragma once

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>

#include "kernels/testing.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace omniphi::kernel_testing {

inline double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

template <typename F>
double timed(const F& f) {
  const double start = seconds();
  f();
  return seconds() - start;
}

#if defined(__x86_64__)

// Ten independent chains of multiply-adds in registers, `steps` long. Returns the operations of one thread.
#define OMNIPHI_CHAINS(load)                                                                                 \
  auto x0 = load(1.0f), x1 = x0, x2 = x0, x3 = x0, x4 = x0, x5 = x0, x6 = x0, x7 = x0;                       \
  auto x8 = x0, x9 = x0;                                                                                     \
  const auto scale = load(0.999f), step = load(1e-6f);                                                       \
  for (int64_t i = 0; i < steps; ++i) {                                                                      \
    asm volatile(                                                                                            \
        "vfmadd132ps %10, %11, %0\n vfmadd132ps %10, %11, %1\n vfmadd132ps %10, %11, %2\n"                   \
        "vfmadd132ps %10, %11, %3\n vfmadd132ps %10, %11, %4\n vfmadd132ps %10, %11, %5\n"                   \
        "vfmadd132ps %10, %11, %6\n vfmadd132ps %10, %11, %7\n vfmadd132ps %10, %11, %8\n"                   \
        "vfmadd132ps %10, %11, %9\n"                                                                         \
        : "+v"(x0), "+v"(x1), "+v"(x2), "+v"(x3), "+v"(x4), "+v"(x5), "+v"(x6), "+v"(x7), "+v"(x8), "+v"(x9) \
        : "v"(scale), "v"(step));                                                                            \
  }

__attribute__((target("avx2,fma"))) inline void chains_avx2(int64_t steps) { OMNIPHI_CHAINS(_mm256_set1_ps) }
__attribute__((target("avx512f"))) inline void chains_avx512(int64_t steps) { OMNIPHI_CHAINS(_mm512_set1_ps) }

// Operations a second of all threads together, in registers alone.
inline double multiply_add_rate(Runner& runner, Isa isa) {
  constexpr int64_t kSteps = 200000;
  const int threads = runner.pool.threads();
  const double time = timed([&] {
    runner.pool.parallel_for(threads, [&](int64_t, int) {
      if (isa == Isa::kAvx512) {
        chains_avx512(kSteps);
      } else {
        chains_avx2(kSteps);
      }
    });
  });
  return 2.0 * 10 * (isa == Isa::kAvx512 ? 16 : 8) * kSteps * threads / time;
}

__attribute__((target("avx2"))) inline void read_avx2(const char* p, int64_t bytes) {
  __m256i any = _mm256_setzero_si256();
  for (int64_t i = 0; i + 128 <= bytes; i += 128) {
    for (int j = 0; j < 128; j += 32) {
      any = _mm256_or_si256(any, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + i + j)));
    }
  }
  benchmark::DoNotOptimize(any);
}

// Bytes a second that all threads together read from a buffer.
inline double read_rate(Runner& runner, const char* p, int64_t bytes) {
  constexpr int64_t kChunk = 512 * 1024;
  const double time = timed([&] {
    runner.pool.parallel_for((bytes + kChunk - 1) / kChunk,
                             [&](int64_t i, int) { read_avx2(p + i * kChunk, std::min(kChunk, bytes - i * kChunk)); });
  });
  return static_cast<double>(bytes) / time;
}

#endif

}  // namespace omniphi::kernel_testing

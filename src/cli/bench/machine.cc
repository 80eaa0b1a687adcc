#include "cli/bench/machine.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <vector>

namespace omniphi::cli {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Reads every cache line of a piece with independent sums, so that loads don't wait for each other.
uint64_t read_piece(const uint64_t* data, int64_t count) {
  uint64_t sums[8] = {};
  for (int64_t i = 0; i + 8 <= count; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] += data[i + j];
  }
  uint64_t sum = 0;
  for (const uint64_t part : sums) sum += part;
  return sum;
}

// Vectors of GCC and Clang: this file is built with contraction on, so a * b + c becomes one instruction.
typedef float Vector8 __attribute__((vector_size(32)));
typedef float Vector16 __attribute__((vector_size(64)));

constexpr int64_t kRounds = 250'000;
constexpr int kLoopsPerThread = 8;  // handed out one by one: a core that is busy elsewhere does fewer
constexpr int kChains = 12;         // enough to cover the latency of 4 or 5 cycles on two ports

// Runs independent recurrences x = x * a + b in registers. Inlined, so that it takes the caller's instruction set.
template <typename Vector>
__attribute__((always_inline)) inline float fma_loop(float factor) {
  Vector x[kChains];
  for (int c = 0; c < kChains; ++c) x[c] = Vector{} + static_cast<float>(c);
  const Vector a = Vector{} + factor, b = Vector{} + 0.5f;
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (int c = 0; c < kChains; ++c) x[c] = x[c] * a + b;
  }
  Vector sum{};
  for (int c = 0; c < kChains; ++c) sum = sum + x[c];
  float first;
  std::memcpy(&first, &sum, sizeof first);
  return first;
}

__attribute__((target("avx2,fma"), noinline)) float fma_loop_avx2(float factor) { return fma_loop<Vector8>(factor); }
__attribute__((target("avx512f"), noinline)) float fma_loop_avx512(float factor) { return fma_loop<Vector16>(factor); }
__attribute__((noinline)) float fma_loop_scalar(float factor) { return fma_loop<float>(factor); }

float run_fma_loop(Isa isa, float factor) {
  switch (isa) {
    case Isa::kAvx512:
      return fma_loop_avx512(factor);
    case Isa::kAvx2:
      return fma_loop_avx2(factor);
    case Isa::kRef:
      break;
  }
  return fma_loop_scalar(factor);
}

int lanes_of(Isa isa) { return isa == Isa::kAvx512 ? 16 : isa == Isa::kAvx2 ? 8 : 1; }

}  // namespace

double measure_read_bandwidth(ThreadPool* pool, int64_t bytes) {
  constexpr int64_t kPiece = int64_t{1} << 18;  // words: 2 MiB
  const int64_t pieces = std::max<int64_t>(1, bytes / 8 / kPiece);
  std::vector<uint64_t> words(static_cast<size_t>(pieces * kPiece), 1);  // written, so that every page is its own
  std::atomic<uint64_t> sink{0};
  double best = 0;
  for (int pass = 0; pass < 5; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    pool->parallel_for(pieces, [&](int64_t piece, int) { sink += read_piece(words.data() + piece * kPiece, kPiece); });
    best = std::max(best, static_cast<double>(pieces * kPiece * 8) / seconds_since(start));
  }
  return sink.load() > 0 ? best : 0;
}

double measure_fma_peak(ThreadPool* pool, Isa isa) {
  std::atomic<float> sink{0};
  double best = 0;
  const int64_t loops = int64_t{kLoopsPerThread} * pool->threads();
  for (int pass = 0; pass < 5; ++pass) {
    const auto start = std::chrono::steady_clock::now();
    pool->parallel_for(loops, [&](int64_t, int) { sink = run_fma_loop(isa, 0.5f + sink.load() * 0.0f); });
    const double operations = 2.0 * kRounds * kChains * lanes_of(isa) * static_cast<double>(loops);
    best = std::max(best, operations / seconds_since(start));
  }
  return best;
}

}  // namespace omniphi::cli

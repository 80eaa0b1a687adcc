// Attention on the true shapes of the decoder and the towers, on every instruction set of the machine, beside the
// multiply-add peak and the read bandwidth of the same moment. Operations are counted for the keys that a query sees.
//
//   attention_bench --benchmark_filter=avx512/prefill
#include <benchmark/benchmark.h>

#include <limits>

#include "kernels/attention_testing.h"
#include "yardsticks.h"

#if defined(__x86_64__)
namespace omniphi::testing_attention {
namespace {

struct AttentionCase {
  const char* name;
  Shape shape;
  DType dtype;
};

// 64 tokens a block, as the engine has them.
constexpr int kBlockTokens = 64;

std::vector<AttentionCase> cases() {
  const auto decoder = [](int64_t m, int64_t keys) {
    return Shape{.heads = 24, .kv_heads = 8, .head_dim = 128, .m = m, .first = keys - m, .keys = keys};
  };
  return {
      {"prefill_512", decoder(512, 512), DType::kF32},
      {"prefill_512", decoder(512, 512), DType::kBF16},
      {"prefill_512_after_3584", decoder(512, 4096), DType::kF32},
      {"prefill_512_after_3584", decoder(512, 4096), DType::kBF16},
      {"decode_4096", decoder(1, 4096), DType::kF32},
      {"decode_4096", decoder(1, 4096), DType::kBF16},
      {"verify_4_of_4096", decoder(4, 4096), DType::kBF16},
      {"siglip", {.heads = 16, .kv_heads = 16, .head_dim = 72, .m = 1024, .keys = 1024, .causal = false}, DType::kF32},
      {"conformer",
       {.heads = 16, .kv_heads = 16, .head_dim = 64, .m = 500, .keys = 500, .causal = false, .bias_reach = 500},
       DType::kF32},
  };
}

// Pairs of a query and a key that it sees, in all heads.
double pairs(const Shape& s) {
  const auto m = static_cast<double>(s.m);
  const double seen = s.causal ? m * static_cast<double>(s.first) + m * (m + 1) / 2 : m * static_cast<double>(s.keys);
  return seen * s.heads;
}

void bench_attention(benchmark::State& state, Isa isa, const AttentionCase& c) {
  kernel_testing::Runner runner(isa, 0);
  const Shape& s = c.shape;
  const Problem problem(s, 1);
  // Decoding finds the keys of a layer in memory, not in a cache that the layer before has left: copies take turns.
  const int copies = s.m > 16 ? 1 : 8;
  std::vector<std::unique_ptr<Cache>> caches;
  std::vector<AttentionSequence> sequences;
  std::vector<float> out(problem.q.size());
  for (int i = 0; i < copies; ++i) {
    caches.push_back(std::make_unique<Cache>(c.dtype, kBlockTokens, s.kv_heads, s.head_dim, s.keys));
    problem.store(runner.context, *caches.back(), 0, s.keys);
    sequences.push_back(problem.sequence(*caches.back(), 0, s.m, s.keys, out.data()));
  }
  const std::vector<char> memory(size_t{256} << 20, 1);
  AttentionArgs args = problem.args();
  double best = std::numeric_limits<double>::infinity(), peak = 0, bandwidth = 0;
  for (auto _ : state) {
    const double time = kernel_testing::timed([&] {
      for (const AttentionSequence& sequence : sequences) {
        args.sequences = {&sequence, 1};
        runner.kernels().attention(runner.context, args);
      }
    });
    best = std::min(best, time / copies);
    for (int i = 0; i < 8; ++i) peak = std::max(peak, kernel_testing::multiply_add_rate(runner, isa));
    bandwidth = std::max(bandwidth, kernel_testing::read_rate(runner, memory.data(), int64_t{256} << 20));
    state.SetIterationTime(time / copies);
  }
  const double rate = 4 * pairs(s) * s.head_dim / best;
  const double bytes = 2.0 * static_cast<double>(s.keys * s.kv_heads * s.head_dim * dtype_size(c.dtype)) / best;
  state.counters["GFLOP/s"] = rate / 1e9;
  state.counters["of_peak"] = rate / peak;
  state.counters["GB/s"] = bytes / 1e9;
  state.counters["of_read"] = bytes / bandwidth;
}

bool register_all() {
  for (const Isa isa : supported_isas()) {
    if (isa == Isa::kRef) continue;
    for (const AttentionCase& c : cases()) {
      const std::string name = std::string("attention/") + isa_name(isa) + "/" + c.name + "/" + dtype_name(c.dtype);
      benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { bench_attention(state, isa, c); })
          ->UseManualTime()
          ->MinTime(0.5)
          ->Unit(benchmark::kMillisecond);
    }
  }
  return true;
}

const bool kRegistered = register_all();

}  // namespace
}  // namespace omniphi::testing_attention
#endif

// Every product, norm and map on the true shapes of the kernels' case tables, on every instruction set of the machine,
// beside what the machine can do: products report the fraction of the multiply-add peak and of the read bandwidth.
// Kernel and yardstick take turns and the best of each counts, because a shared machine changes from second to second.
//
//   kernels_bench --benchmark_filter=matmul/avx512/BF16
#include <benchmark/benchmark.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "kernels/cases.h"
#include "kernels/testing.h"
#include "yardsticks.h"

namespace omniphi::kernel_testing {
namespace {

// Weights of any dtype, filled quickly: benchmarks do not care for a distribution, only for ordinary numbers.
class BenchWeight {
 public:
  BenchWeight(int64_t rows, int64_t columns, DType dtype) {
    const auto count = static_cast<size_t>(rows * columns);
    bytes_ = count * dtype_size(dtype);
    memory_.reset(new (std::align_val_t{64}) char[bytes_]);
    uint32_t random = 1;
    for (size_t i = 0; i < count; ++i) {
      random = random * 1664525u + 1013904223u;
      const float value = static_cast<float>(static_cast<int32_t>(random) >> 16) / 32768.0f;
      if (dtype == DType::kF32) {
        std::memcpy(memory_.get() + i * 4, &value, 4);
      } else {
        const uint16_t bits = dtype == DType::kBF16 ? f32_to_bf16(value) : f32_to_f16(value);
        std::memcpy(memory_.get() + i * 2, &bits, 2);
      }
    }
    ref_ = {memory_.get(), dtype, columns};
  }

  const WeightRef& ref() const { return ref_; }
  const char* data() const { return memory_.get(); }
  int64_t bytes() const { return static_cast<int64_t>(bytes_); }

 private:
  struct Free {
    void operator()(char* memory) const { ::operator delete[](memory, std::align_val_t{64}); }
  };
  std::unique_ptr<char[], Free> memory_;
  size_t bytes_ = 0;
  WeightRef ref_;
};

// Activations as the engine has them: from a workspace, aligned.
float* activations(Runner& runner, int64_t count) {
  float* values = runner.workspace.take<float>(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 1001) / 500 - 1;
  return values;
}

#if defined(__x86_64__)

void bench_matmul(benchmark::State& state, Isa isa, DType dtype, const MatmulCase& c) {
  Runner runner(isa, 0);
  const BenchWeight w(c.n, c.k, dtype);
  MatmulArgs args;
  args.a = activations(runner, c.m * c.k);
  args.lda = c.k;
  args.w = w.ref();
  args.c = activations(runner, c.m * c.n);
  args.ldc = c.n;
  args.m = c.m;
  args.n = c.n;
  args.k = c.k;
  args.accumulate = c.accumulate;
  double best = std::numeric_limits<double>::infinity(), peak = 0, bandwidth = 0;
  for (auto _ : state) {
    const double time = timed([&] { runner.kernels().matmul(runner.context, args); });
    best = std::min(best, time);
    for (int i = 0; i < 8; ++i) peak = std::max(peak, multiply_add_rate(runner, isa));
    bandwidth = std::max(bandwidth, read_rate(runner, w.data(), w.bytes()));
    state.SetIterationTime(time);
  }
  const double rate = 2.0 * static_cast<double>(c.m * c.n) * static_cast<double>(c.k) / best;
  const double bytes = static_cast<double>(w.bytes()) / best;
  state.counters["GFLOP/s"] = rate / 1e9;
  state.counters["of_peak"] = rate / peak;
  state.counters["GB/s"] = bytes / 1e9;
  state.counters["of_read"] = bytes / bandwidth;
}

#endif

enum class RowOp { kRmsNorm, kLayerNorm, kGated, kSwish, kGeluTanh, kGeluErf, kGeluQuick, kAdd };
constexpr std::pair<RowOp, const char*> kRowOps[] = {
    {RowOp::kRmsNorm, "rms_norm"},     {RowOp::kLayerNorm, "layer_norm"},
    {RowOp::kGated, "gated"},          {RowOp::kSwish, "swish"},
    {RowOp::kGeluTanh, "gelu_tanh"},   {RowOp::kGeluErf, "gelu_erf"},
    {RowOp::kGeluQuick, "gelu_quick"}, {RowOp::kAdd, "add"}};

void call_row_op(Runner& runner, RowOp op, const RowsCase& c, const float* x, float* y, const WeightRef& w) {
  const auto norm = [&] {
    return NormArgs{.x = x, .ldx = c.n, .y = y, .ldy = c.n, .m = c.m, .n = c.n, .weight = w, .bias = w, .eps = 1e-5f};
  };
  const auto map = [&](Activation kind) {
    return ActivationArgs{.kind = kind, .x = x, .ldx = c.n, .y = y, .ldy = c.n, .m = c.m, .n = c.n};
  };
  const KernelTable& kernels = runner.kernels();
  switch (op) {
    case RowOp::kRmsNorm:
      return kernels.rms_norm(runner.context, norm());
    case RowOp::kLayerNorm:
      return kernels.layer_norm(runner.context, norm());
    case RowOp::kGated:
      return kernels.gated(
          runner.context,
          GatedArgs{.x = x, .ldx = 2 * c.n, .y = y, .ldy = c.n, .m = c.m, .n = c.n, .gate_first = true});
    case RowOp::kSwish:
      return kernels.activation(runner.context, map(Activation::kSwish));
    case RowOp::kGeluTanh:
      return kernels.activation(runner.context, map(Activation::kGeluTanh));
    case RowOp::kGeluErf:
      return kernels.activation(runner.context, map(Activation::kGeluErf));
    case RowOp::kGeluQuick:
      return kernels.activation(runner.context, map(Activation::kGeluQuick));
    case RowOp::kAdd:
      return kernels.add(runner.context,
                         AddArgs{.x = x, .ldx = c.n, .y = y, .ldy = c.n, .m = c.m, .n = c.n, .scale = 1});
  }
}

void bench_rows(benchmark::State& state, Isa isa, RowOp op, const RowsCase& c) {
  Runner runner(isa, 0);
  const BenchWeight w(1, c.n, DType::kBF16);
  const float* x = activations(runner, 2 * c.m * c.n);
  float* y = activations(runner, c.m * c.n);
  for (auto _ : state) call_row_op(runner, op, c, x, y, w.ref());
  state.SetItemsProcessed(state.iterations() * c.m * c.n);
}

void bench_conv3x3(benchmark::State& state, Isa isa, const Conv3x3Case& c) {
  Runner runner(isa, 0);
  const BenchWeight w(c.c_out, 9, DType::kBF16);
  const int64_t out = (c.h + 1) / 2 * ((c.w + 1) / 2);
  const Conv3x3Args args{.x = activations(runner, c.h * c.w * c.c_in),
                         .y = activations(runner, out * c.c_out),
                         .h = c.h,
                         .w = c.w,
                         .c_in = c.c_in,
                         .c_out = c.c_out,
                         .weight = w.ref()};
  for (auto _ : state) runner.kernels().conv3x3_stride2(runner.context, args);
  state.SetItemsProcessed(state.iterations() * out * c.c_out);
}

void bench_causal(benchmark::State& state, Isa isa, const CausalConvCase& c) {
  Runner runner(isa, 0);
  const BenchWeight w(c.n, c.kernel, DType::kBF16);
  const CausalConvArgs args{.x = activations(runner, c.m * c.n),
                            .y = activations(runner, c.m * c.n),
                            .m = c.m,
                            .n = c.n,
                            .kernel = c.kernel,
                            .weight = w.ref()};
  for (auto _ : state) runner.kernels().causal_conv(runner.context, args);
  state.SetItemsProcessed(state.iterations() * c.m * c.n);
}

bool register_all() {
  for (const Isa isa : vector_isas()) {
    const std::string set = std::string("/") + isa_name(isa) + "/";
#if defined(__x86_64__)
    for (const DType dtype : {DType::kBF16, DType::kF16, DType::kF32}) {
      for (const MatmulCase& c : matmul_cases()) {
        if (c.use != Use::kBench) continue;
        const std::string name = "matmul" + set + dtype_name(dtype) + "/" + c.name;
        benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { bench_matmul(state, isa, dtype, c); })
            ->UseManualTime()
            ->MinTime(1.0)
            ->Unit(benchmark::kMillisecond);
      }
    }
#endif
    for (const auto& [op, op_name] : kRowOps) {
      for (const RowsCase& c : rows_cases()) {
        if (c.use != Use::kBench) continue;
        benchmark::RegisterBenchmark((op_name + set + c.name).c_str(), [=, op = op](benchmark::State& state) {
          bench_rows(state, isa, op, c);
        })->UseRealTime();
      }
    }
    for (const Conv3x3Case& c : conv3x3_cases()) {
      if (c.use != Use::kBench) continue;
      benchmark::RegisterBenchmark(("conv3x3_stride2" + set + c.name).c_str(), [=](benchmark::State& state) {
        bench_conv3x3(state, isa, c);
      })->UseRealTime();
    }
    for (const CausalConvCase& c : causal_conv_cases()) {
      if (c.use != Use::kBench) continue;
      benchmark::RegisterBenchmark(("causal_conv" + set + c.name).c_str(), [=](benchmark::State& state) {
        bench_causal(state, isa, c);
      })->UseRealTime();
    }
  }
  return true;
}

const bool kRegistered = register_all();

}  // namespace
}  // namespace omniphi::kernel_testing

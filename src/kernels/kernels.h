// Every op of the engine, once: its shapes, its aliasing rules and its arithmetic. Implementations register a
// KernelTable.
//
// Rules that every implementation keeps (docs/numerics.md), so that a row's bits never depend on its neighbours, on the
// number of threads or on how a prompt was cut:
//   - An output element has one accumulation, in one order. Work is split over output elements only.
//   - One row and five hundred rows run the same arithmetic.
//   - Activations are float32, row-major; `ld*` counts elements from one row to the next. Weights are bf16, f16 or f32,
//   may be
//     unaligned, and are widened exactly before they are used.
//   - Nothing throws and nothing is allocated but from the workspace. Sizes were checked by the caller.
#pragma once

#include <cstdint>
#include <span>

#include "base/cpu.h"
#include "base/thread_pool.h"
#include "base/workspace.h"
#include "tensor/dtype.h"

namespace omniphi {

struct KernelTable;

// What a kernel runs with. `workspace` is used by the calling thread only.
struct KernelContext {
  const KernelTable* kernels = nullptr;
  ThreadPool* pool = nullptr;
  Workspace* workspace = nullptr;
};

// A weight as it lies in the checkpoint: row-major, `ld` elements from row to row.
struct WeightRef {
  const void* data = nullptr;  // [rows, ld]; null: absent (an optional bias)
  DType dtype = DType::kF32;   // kF32, kBF16 or kF16
  int64_t ld = 0;
};

// c = a * w^T (+ bias), or c += scale * (a * w^T).
struct MatmulArgs {
  const float* a = nullptr;  // [m, k], lda
  int64_t lda = 0;
  WeightRef w;         // [n, k]
  WeightRef bias;      // [n]; only with accumulate == false
  float* c = nullptr;  // [m, n], ldc; must not overlap a
  int64_t ldc = 0;
  int64_t m = 0, n = 0, k = 0;
  bool accumulate = false;  // false: c is assigned
  float scale = 1;          // only with accumulate
};

// y = x / sqrt(mean(x^2) + eps) * weight. y may be x.
// LayerNorm: y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias, var with division by n.
struct NormArgs {
  const float* x = nullptr;  // [m, n], ldx
  int64_t ldx = 0;
  float* y = nullptr;  // [m, n], ldy
  int64_t ldy = 0;
  int64_t m = 0, n = 0;
  WeightRef weight;  // [n]
  WeightRef bias;    // [n]; LayerNorm only
  float eps = 0;
};

// Rotary embedding in place on the first `rotary` dimensions of every head; dimension d pairs with d + rotary / 2:
//   x[d]              = x[d] * cos[d] - x[d + rotary/2] * sin[d]
//   x[d + rotary/2]   = x[d + rotary/2] * cos[d] + x[d] * sin[d]
struct RopeArgs {
  float* x = nullptr;  // [m, heads, head_dim], ldx from row to row
  int64_t ldx = 0;
  int64_t m = 0;
  int heads = 0, head_dim = 0, rotary = 0;
  const float* cos = nullptr;  // [m, rotary / 2]
  const float* sin = nullptr;  // [m, rotary / 2]
};

// The keys and values of one sequence in one layer, cut into blocks of `block_tokens` tokens (a power of two from 16 to
// 256). A block holds, head after head, keys [head_dim, block_tokens] (transposed, so that lanes run over keys) and,
// behind all the keys of that head, values [block_tokens, head_dim]. Element (head h, dim d, slot s) of the keys is at
// h*2*head_dim*block_tokens + d*block_tokens + s; of the values at h*2*head_dim*block_tokens + head_dim*block_tokens +
// s*head_dim + d. Blocks are aligned to 64 bytes; slots past the last token may hold anything.
struct KvBlocks {
  void* const* blocks = nullptr;  // block b holds tokens [b * block_tokens, (b + 1) * block_tokens)
  DType dtype = DType::kF32;      // kF32 or kBF16
  int block_tokens = 0;
};

// Elements of one block: kv_heads * 2 * head_dim * block_tokens.
inline int64_t kv_block_elements(int kv_heads, int head_dim, int block_tokens) {
  return int64_t{2} * kv_heads * head_dim * block_tokens;
}

// Rounds keys and values to the cache's dtype (nearest, ties to even) and stores them at positions [first, first + m).
struct KvStoreArgs {
  const float* k = nullptr;  // [m, kv_heads, head_dim], ldk from row to row
  const float* v = nullptr;  // [m, kv_heads, head_dim], ldk from row to row
  int64_t ldk = 0;
  int64_t m = 0;
  int64_t first = 0;
  int kv_heads = 0, head_dim = 0;
  KvBlocks kv;
};

// One sequence of an attention call.
struct AttentionSequence {
  const float* q = nullptr;  // [m, heads, head_dim], ldq from row to row
  float* out = nullptr;      // [m, heads, head_dim], ldo from row to row; must not overlap q
  int64_t m = 0;
  int64_t first = 0;  // position of query 0 among the keys
  int64_t keys = 0;   // number of keys stored in kv
  KvBlocks kv;
  const uint8_t* key_mask = nullptr;     // [keys], 1 = may be attended; null: all
  const int32_t* range_begin = nullptr;  // [m]: query i sees keys in [range_begin[i], range_end[i]); null: all keys
  const int32_t* range_end = nullptr;    // [m]
};

// out = softmax(scale * q k^T + bias) v, per head. Query head a uses key and value head a / (heads / kv_heads).
// Keys are taken in spans of 256 at absolute multiples of 256. A span gives (max, sum of exp, weighted values), each
// from zero and with keys in ascending order; spans are merged in ascending order. A query that sees no key gives
// zeros.
struct AttentionArgs {
  std::span<const AttentionSequence> sequences;
  int64_t ldq = 0, ldo = 0;
  int heads = 0, kv_heads = 0, head_dim = 0;
  float scale = 1;
  bool causal = false;  // query i sees keys up to and including position first + i
  // Relative bias added to the scaled score of query position i and key position j:
  // relative_bias[h * 2 * bias_reach + clamp(j - i, -bias_reach, bias_reach - 1) + bias_reach]. Null: none.
  const float* relative_bias = nullptr;  // [heads, 2 * bias_reach]
  int bias_reach = 0;
};

inline constexpr int64_t kAttentionSpan = 256;

// Elementwise maps over [m, n] with row strides. y may be x. kGeluQuick is x * sigmoid(1.702 x), which stands in for
// GELU in CLIP.
enum class Activation { kRelu, kSwish, kGeluTanh, kGeluErf, kGeluQuick };
struct ActivationArgs {
  Activation kind = Activation::kRelu;
  const float* x = nullptr;  // [m, n], ldx
  int64_t ldx = 0;
  float* y = nullptr;  // [m, n], ldy
  int64_t ldy = 0;
  int64_t m = 0, n = 0;
};

// Gated products of the two halves of a row, y = value * swish(gate):
// the decoder's MLP has gate first ([gate, up]), the Conformer's feed-forward and GLU have value first ([value, gate]),
// and the GLU adds a bias to each half.
struct GatedArgs {
  const float* x = nullptr;  // [m, 2 * n], ldx
  int64_t ldx = 0;
  float* y = nullptr;  // [m, n], ldy; must not overlap x
  int64_t ldy = 0;
  int64_t m = 0, n = 0;
  bool gate_first = false;
  WeightRef value_bias;  // [n] or absent
  WeightRef gate_bias;   // [n] or absent
};

// y += scale * x over [m, n].
struct AddArgs {
  const float* x = nullptr;  // [m, n], ldx
  int64_t ldx = 0;
  float* y = nullptr;  // [m, n], ldy
  int64_t ldy = 0;
  int64_t m = 0, n = 0;
  float scale = 1;
};

// y[i] = table[ids[i]], widened. Ids were checked.
struct EmbedArgs {
  WeightRef table;               // [vocab, n]
  const int32_t* ids = nullptr;  // [m]
  float* y = nullptr;            // [m, n], ldy
  int64_t ldy = 0;
  int64_t m = 0, n = 0;
};

// Per row of logits: log(sum(exp(logits))) and the index of the first largest logit.
struct LogSumExpArgs {
  const float* logits = nullptr;  // [m, n], ldx
  int64_t ldx = 0;
  int64_t m = 0, n = 0;
  float* log_sum_exp = nullptr;  // [m]
  int32_t* argmax = nullptr;     // [m]
};

// Two-dimensional 3x3 convolution with stride 2 and zero padding 1 on a channel-last plane, [h, w, c_in] ->
// [ceil(h/2), ceil(w/2), c_out], either depthwise (c_in == c_out, weight [c, 1, 3, 3]) or from one channel (c_in == 1,
// weight [c_out, 1, 3, 3]).
struct Conv3x3Args {
  const float* x = nullptr;  // [h, w, c_in]
  float* y = nullptr;        // [ceil(h/2), ceil(w/2), c_out]; must not overlap x
  int64_t h = 0, w = 0;
  int c_in = 0, c_out = 0;
  WeightRef weight;  // [c_out, 9]
  WeightRef bias;    // [c_out]
};

// Causal depthwise convolution along rows: y[t, c] = bias[c] + sum_j weight[c, j] * x[t - (kernel - 1) + j, c], rows
// before 0 are 0.
struct CausalConvArgs {
  const float* x = nullptr;  // [m, n], dense
  float* y = nullptr;        // [m, n], dense; must not overlap x
  int64_t m = 0, n = 0;
  int kernel = 0;
  WeightRef weight;  // [n, kernel]
  WeightRef bias;    // [n]
};

// The implementations for one instruction set.
struct KernelTable {
  Isa isa;
  void (*matmul)(const KernelContext&, const MatmulArgs&);
  void (*rms_norm)(const KernelContext&, const NormArgs&);
  void (*layer_norm)(const KernelContext&, const NormArgs&);
  void (*rope)(const KernelContext&, const RopeArgs&);
  void (*kv_store)(const KernelContext&, const KvStoreArgs&);
  void (*attention)(const KernelContext&, const AttentionArgs&);
  void (*activation)(const KernelContext&, const ActivationArgs&);
  void (*gated)(const KernelContext&, const GatedArgs&);
  void (*add)(const KernelContext&, const AddArgs&);
  void (*embed)(const KernelContext&, const EmbedArgs&);
  void (*log_sum_exp)(const KernelContext&, const LogSumExpArgs&);
  void (*conv3x3_stride2)(const KernelContext&, const Conv3x3Args&);
  void (*causal_conv)(const KernelContext&, const CausalConvArgs&);
};

// The table for an instruction set that the machine supports (base/cpu.h: choose_isa()).
const KernelTable& kernel_table(Isa isa);

}  // namespace omniphi

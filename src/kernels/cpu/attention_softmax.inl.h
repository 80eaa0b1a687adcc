// The softmax of one row of scores in one span.
#pragma once

#include "kernels/cpu/math.inl.h"

namespace omniphi::OMNIPHI_SIMD {

inline constexpr int kSoftmaxKeys = 4 * kLanes;  // keys that the softmax takes at a time

struct KeyRange {
  int64_t begin, end;  // empty when begin >= end
};

OMNIPHI_INLINE KeyRange intersect(KeyRange a, KeyRange b) { return {max_i64(a.begin, b.begin), min_i64(a.end, b.end)}; }

// `range` in whole steps of the softmax.
OMNIPHI_INLINE KeyRange softmax_steps(KeyRange range) {
  return {range.begin / kSoftmaxKeys * kSoftmaxKeys, (range.end + kSoftmaxKeys - 1) / kSoftmaxKeys * kSoftmaxKeys};
}

// A row's way to its softmax.
struct SoftmaxRow {
  int64_t span;             // position of the span
  KeyRange steps;           // within the span, whole softmax steps
  KeyRange seen;            // positions
  const uint8_t* key_mask;  // of position 0, or null
  int64_t keys;
  float scale;
  const float* bias;  // of distance 0, or null
  int64_t position, reach;
};

OMNIPHI_INLINE F32 relative_bias(const SoftmaxRow& row, int64_t j) {
  const int64_t distance = j - row.position;
  if (distance >= -row.reach && distance + kLanes <= row.reach) return load(row.bias + distance);
  alignas(64) float lanes[kLanes];
  for (int i = 0; i < kLanes; ++i) lanes[i] = row.bias[max_i64(-row.reach, min_i64(distance + i, row.reach - 1))];
  return load(lanes);
}

// The final scores of positions [j, j + kLanes): -inf where the key is not seen, whatever the product gave there.
OMNIPHI_INLINE F32 final_scores(const SoftmaxRow& row, int64_t j, F32 dots) {
  const F32 hidden = set(-__builtin_inff());
  F32 x = row.bias ? fma(dots, set(row.scale), relative_bias(row, j)) : mul(dots, set(row.scale));
  if (j < row.seen.begin) x = select(first(min_i64(row.seen.begin - j, kLanes)), hidden, x);
  if (j + kLanes > row.seen.end) x = select(first(max_i64(row.seen.end - j, 0)), x, hidden);
  if (row.key_mask) {
    const int64_t n = min_i64(row.keys - j, kLanes);
    x = n > 0 ? select(mask_from_bytes(row.key_mask + j, n), x, hidden) : hidden;
  }
  return x;
}

OMNIPHI_INLINE bool any_nan(const float* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (x[i] != x[i]) return true;
  }
  return false;
}

// Turns a row's products into exp(score - max). Lane i of partial sum v % 4 takes the keys of vector v.
static void softmax_row(const SoftmaxRow& row, float* scores, float* max_out, float* sum_out) {
  F32 max4[4];
  for (int v = 0; v < 4; ++v) max4[v] = set(-__builtin_inff());
  for (int64_t j = row.steps.begin; j < row.steps.end; j += kSoftmaxKeys) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const int64_t at = j + v * kLanes;
      const F32 x = final_scores(row, row.span + at, load(scores + at));
      store(scores + at, x);
      max4[v] = max(x, max4[v]);  // passes over NaN
    }
  }
  float largest = max_lane(max(max(max4[0], max4[1]), max(max4[2], max4[3])));
  if (largest == -__builtin_inff()) {
    if (!any_nan(scores + row.steps.begin, row.steps.end - row.steps.begin)) {  // no key is seen
      for (int64_t j = row.steps.begin; j < row.steps.end; j += kLanes) store(scores + j, zero());
      *max_out = largest;
      *sum_out = 0;
      return;
    }
    largest = 0;  // NaN goes into the sum and the result
  }
  const F32 shift = set(largest);
  F32 sum4[4];
  for (int v = 0; v < 4; ++v) sum4[v] = zero();
  for (int64_t j = row.steps.begin; j < row.steps.end; j += kSoftmaxKeys) {
#pragma GCC unroll 4
    for (int v = 0; v < 4; ++v) {
      const F32 weight = exp(sub(load(scores + j + v * kLanes), shift));
      store(scores + j + v * kLanes, weight);
      sum4[v] = add(sum4[v], weight);
    }
  }
  *max_out = largest;
  *sum_out = sum(add(add(sum4[0], sum4[1]), add(sum4[2], sum4[3])));
}

}  // namespace omniphi::OMNIPHI_SIMD

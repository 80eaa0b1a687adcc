// Counts of arithmetic and bytes, by part of the model.
#pragma once

#include "cli/plan/plan.h"

namespace omniphi::cli {

// Floating-point operations of the prefill. Matrix products count 2 m n k; norms and activations are left out.
Shares prefill_flops(const ModelFamily& family, const ModelConfig& config, const Plan& plan);

// Of one decoded token behind `context` others.
double decode_flops(const ModelConfig& config, const Plan& plan, int64_t context);

// Of all tensors, as bf16 (2 bytes a parameter).
Shares weight_bytes(const ModelFamily& family, const ModelConfig& config);

// What a prefill needs beside weights and KV: pixels, features, media embeddings, activations, logits.
Shares working_bytes(const ModelFamily& family, const ModelConfig& config, const Plan& plan, int64_t prefill_chunk);

}  // namespace omniphi::cli

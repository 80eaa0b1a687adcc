// What a prompt costs before any weight is read: tokens, KV cache, arithmetic, memory.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "models/family/family.h"

namespace omniphi::cli {

struct PlannedImage {
  std::string name;  // "1344x1792" or the file
  int64_t width = 0, height = 0;
};

struct PlannedAudio {
  std::string name;
  double seconds = 0;
  int64_t tokens = 0;
};

struct PlanRequest {
  std::vector<PlannedImage> images;
  std::vector<PlannedAudio> audios;
  int64_t text_tokens = 100;
  int64_t context_tokens = 0;  // 0: the model's limit
  int64_t prefill_chunk = 512;
  int max_crops = 0;         // 0: the checkpoint's own number
  int64_t memory_bytes = 0;  // free memory; 0: ask the system
};

// One row of a sweep over crop limits.
struct CropChoice {
  int max_crops = 0;
  ImageLayout layout;
};

// A part with its share.
using Shares = std::vector<std::pair<std::string, double>>;

struct KvPlan {
  std::string dtype;
  int64_t bytes_per_token = 0;
  int64_t context_bytes = 0;    // for `context_tokens`
  int64_t prompt_bytes = 0;     // for the planned prompt
  int64_t longest_context = 0;  // tokens that fit the memory beside weights and work space; 0: not even one
};

struct Plan {
  std::string family;                                 // its title
  std::vector<std::vector<CropChoice>> image_sweeps;  // per image: every limit at which the layout changes
  std::vector<ImageLayout> images;                    // at the chosen limit
  int max_crops = 0;
  int advised_crops = 0;               // what the publisher advises for this prompt and is more; 0: nothing
  int64_t max_image_tokens = 0;        // that any image can take at the chosen limit
  double audio_tokens_per_second = 0;  // 0: the model hears nothing
  int64_t text_tokens = 0, image_tokens = 0, audio_tokens = 0;
  int64_t prompt_tokens() const { return text_tokens + image_tokens + audio_tokens; }
  // The kind of tokens that the prompt has most of: "text", "image" or "audio", and its share.
  std::pair<std::string, double> dominant_tokens() const;
  double media_to_text() const {
    return text_tokens > 0 ? static_cast<double>(image_tokens + audio_tokens) / static_cast<double>(text_tokens) : 0;
  }

  int64_t context_limit = 0, context_tokens = 0;
  bool long_rope = false;       // the prompt is beyond the original context
  Shares prefill_flops;         // by part, multiplications and additions counted apart
  double decode_flops = 0;      // of one token behind the prompt
  Shares weight_bytes;          // by part, as bf16, mapped
  Shares working_bytes;         // by purpose, beside weights and KV
  int64_t available_bytes = 0;  // memory the machine can give
  std::vector<KvPlan> kv;       // bf16, fp32
  // Bytes a token of the KV cache over those of the first family's release, which shares keys and values among heads.
  double kv_to_first_family = 1;
  bool shares_no_keys = false;  // multi-head attention: as many heads of keys as of queries
  // Bytes of a bf16 KV cache at the model's limit over those of the weights.
  double full_kv_to_weights = 0;
};

// Throws kUsage for a crop limit out of range, kInput for an image that can't be cut and for audio where the model
// hears nothing.
Plan make_plan(const ModelFamily& family, const ModelConfig& config, const PlanRequest& request);

double total(const Shares& shares);
// The name of the largest; empty when all are zero.
std::string largest(const Shares& shares);

}  // namespace omniphi::cli

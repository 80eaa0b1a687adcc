#include "cli/plan/plan.h"

#include <algorithm>

#include "base/error.h"
#include "base/memory.h"
#include "cli/plan/costs.h"
#include "models/registry/registry.h"
#include "runtime/prepare.h"

namespace omniphi::cli {
namespace {

// Left to the system, to decoded media and to the allocator.
constexpr int64_t kReserveBytes = int64_t{1} << 30;

std::vector<CropChoice> sweep_crops(const ModelFamily& family, const PlannedImage& image, int limit) {
  std::vector<CropChoice> sweep;
  for (int crops = 1; crops <= limit; ++crops) {
    ImageLayout layout;
    try {
      layout = family.image_layout(image.width, image.height, crops, image.name);
    } catch (const Error&) {
      continue;  // so few crops would squeeze a side to nothing
    }
    const bool same = !sweep.empty() && sweep.back().layout.grid_cols == layout.grid_cols &&
                      sweep.back().layout.grid_rows == layout.grid_rows;
    if (!same) sweep.push_back({crops, layout});
  }
  return sweep;
}

int64_t kv_bytes_per_token(const DecoderConfig& d, int element_bytes) {
  return int64_t{2} * d.num_layers * d.num_kv_heads * d.head_dim * element_bytes;
}

KvPlan plan_kv(const ModelConfig& config, const Plan& plan, const char* dtype, int element_bytes) {
  KvPlan kv;
  kv.dtype = dtype;
  kv.bytes_per_token = kv_bytes_per_token(config.decoder, element_bytes);
  kv.context_bytes = kv.bytes_per_token * plan.context_tokens;
  kv.prompt_bytes = kv.bytes_per_token * plan.prompt_tokens();
  const double rest =
      static_cast<double>(plan.available_bytes - kReserveBytes) - total(plan.weight_bytes) - total(plan.working_bytes);
  const double tokens = std::max(0.0, rest) / static_cast<double>(kv.bytes_per_token);
  kv.longest_context = std::min(plan.context_limit, static_cast<int64_t>(tokens));
  return kv;
}

}  // namespace

Plan make_plan(const ModelFamily& family, const ModelConfig& config, const PlanRequest& request) {
  Plan plan;
  plan.family = family.title;
  plan.max_crops = image_crops(family, config, request.max_crops);
  if (!request.audios.empty() && !config.hears()) {
    throw Error(ErrorKind::kInput, request.audios.front().name, "an audio", "text or images",
                std::string(family.title) + " can't hear.");
  }
  const int limit = family.max_crops(config);
  for (const PlannedImage& image : request.images) {
    plan.image_sweeps.push_back(sweep_crops(family, image, limit));
    plan.images.push_back(family.image_layout(image.width, image.height, plan.max_crops, image.name));
    plan.image_tokens += plan.images.back().tokens;
  }
  for (const PlannedAudio& audio : request.audios) plan.audio_tokens += audio.tokens;
  plan.max_image_tokens = family.most_image_tokens(plan.max_crops);
  if (request.images.size() == 1 && family.advised_single_image_crops > plan.max_crops) {
    plan.advised_crops = family.advised_single_image_crops;
  }
  constexpr double kLong = 1000;  // seconds: the first window's edge no longer counts
  if (config.hears()) plan.audio_tokens_per_second = static_cast<double>(family.audio_tokens(kLong)) / kLong;
  plan.text_tokens = request.text_tokens;

  plan.context_limit = config.decoder.max_position_embeddings;
  plan.context_tokens = request.context_tokens == 0 ? plan.context_limit : request.context_tokens;
  if (plan.context_tokens > plan.context_limit) {
    throw Error(ErrorKind::kUsage, "--context", std::to_string(plan.context_tokens),
                "at most " + std::to_string(plan.context_limit) + ", the model's limit");
  }
  plan.long_rope = plan.prompt_tokens() > config.decoder.original_max_position_embeddings;
  plan.prefill_flops = prefill_flops(family, config, plan);
  plan.decode_flops = decode_flops(config, plan, plan.prompt_tokens());
  plan.weight_bytes = weight_bytes(family, config);
  plan.working_bytes = working_bytes(family, config, plan, request.prefill_chunk);
  plan.available_bytes = request.memory_bytes > 0 ? request.memory_bytes : available_memory();
  plan.kv.push_back(plan_kv(config, plan, "bf16", 2));
  plan.kv.push_back(plan_kv(config, plan, "fp32", 4));
  const ModelFamily& first = *model_families().front();
  const DecoderConfig first_release = first.preset(std::string(first.presets.front())).decoder;
  const auto bytes_per_token = static_cast<double>(plan.kv.front().bytes_per_token);
  plan.kv_to_first_family = bytes_per_token / static_cast<double>(kv_bytes_per_token(first_release, 2));
  plan.shares_no_keys = config.decoder.num_kv_heads == config.decoder.num_heads;
  plan.full_kv_to_weights = bytes_per_token * static_cast<double>(plan.context_limit) / total(plan.weight_bytes);
  return plan;
}

std::pair<std::string, double> Plan::dominant_tokens() const {
  const Shares tokens = {{"text", static_cast<double>(text_tokens)},
                         {"image", static_cast<double>(image_tokens)},
                         {"audio", static_cast<double>(audio_tokens)}};
  const std::string name = largest(tokens);
  for (const auto& [kind, count] : tokens) {
    if (kind == name) return {name, count / total(tokens)};
  }
  return {name, 0};
}

double total(const Shares& shares) {
  double sum = 0;
  for (const auto& [name, share] : shares) sum += share;
  return sum;
}

std::string largest(const Shares& shares) {
  const auto it =
      std::max_element(shares.begin(), shares.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  return it == shares.end() || it->second <= 0 ? "" : it->first;
}

}  // namespace omniphi::cli

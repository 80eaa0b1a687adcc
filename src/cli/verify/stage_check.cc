#include "cli/verify/stage_check.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace omniphi::cli {
namespace {

struct StageKind {
  const char* prefix;
  double tolerance;
};

// In pipeline order.
constexpr StageKind kKinds[] = {{"prompt_ids", 0},           {"input_ids", 0},
                                {"image_sizes", 0},          {"image_attention_mask", 0},
                                {"pixel_values", 2e-5},      {"audio_embed_sizes", 0},
                                {"audio_attention_mask", 0}, {"audio_features", 2e-5},
                                {"vision.embeddings", 2e-5}, {"vision.layer", 2e-5},
                                {"vision.pooled", 2e-5},     {"vision.hd_sequence", 2e-5},
                                {"vision.projected", 2e-5},  {"audio.normalized", 2e-5},
                                {"audio.subsampled", 2e-5},  {"audio.block", 2e-5},
                                {"audio.projected", 2e-5},   {"decoder.inputs_embeds", 2e-5},
                                {"decoder.layer", 2e-3},     {"decoder.final_norm", 2e-3},
                                {"logprobs", 1e-3},          {"last_logits", 1e-3},
                                {"generated_ids", 0},        {"generated_logprobs", 1e-3}};

constexpr double kRelative = 2e-5;

bool starts_with(const std::string& text, const char* prefix) { return text.rfind(prefix, 0) == 0; }

// The number at the end of "vision.layer12" or "vision.projected.3"; 0 when there is none.
int trailing_number(const std::string& name) {
  const size_t begin = name.find_last_not_of("0123456789") + 1;
  return begin < name.size() && name.size() - begin < 8 ? std::stoi(name.substr(begin)) : 0;
}

double absmax_of(const ReferenceStage& stage) {
  if (stage.stats) return stage.stats->absmax;
  double largest = 0;
  for (const double value : stage.values) largest = std::max(largest, std::abs(value));
  return largest;
}

}  // namespace

double stage_tolerance(const ReferenceStage& stage) {
  if (stage.tolerance) return *stage.tolerance;
  for (const StageKind& kind : kKinds) {
    if (!starts_with(stage.name, kind.prefix)) continue;
    return kind.tolerance == 0 ? 0 : kind.tolerance + kRelative * absmax_of(stage);
  }
  return kRelative * absmax_of(stage);
}

std::pair<int, int> stage_rank(const std::string& name) {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (starts_with(name, kKinds[i].prefix)) return {static_cast<int>(i), trailing_number(name)};
  }
  return {static_cast<int>(std::size(kKinds)), 0};
}

StageChecker::StageChecker(const ReferenceDump& dump, std::vector<int64_t> crop_places, double scale)
    : dump_(dump), crop_places_(std::move(crop_places)), scale_(scale) {}

bool StageChecker::padded(const ReferenceStage& reference) const {
  const bool per_crop = starts_with(reference.name, "vision.embeddings") ||
                        starts_with(reference.name, "vision.layer") || starts_with(reference.name, "vision.pooled");
  return per_crop && reference.shape.rank() > 0 && reference.shape[0] != static_cast<int64_t>(crop_places_.size());
}

void StageChecker::stage(const std::string& name, const float* data, const Shape& shape) {
  const auto reference = dump_.stages.find(name);
  if (reference == dump_.stages.end()) return;
  Progress& progress = progress_[name];
  int64_t offset = progress.elements;
  const int64_t count = shape.count();
  if (padded(reference->second)) {  // one crop a piece
    const auto piece = static_cast<size_t>(progress.pieces);
    offset = piece < crop_places_.size() ? crop_places_[piece] * count : reference->second.shape.count();
  }
  compare(reference->second, data, count, offset, &progress);
  ++progress.pieces;
  progress.elements += count;
}

void StageChecker::compare(const ReferenceStage& reference, const float* data, int64_t count, int64_t offset,
                           Progress* progress) {
  const int64_t stride = reference.stride;
  for (int64_t at = (offset + stride - 1) / stride * stride; at < offset + count; at += stride) {
    const auto stored = static_cast<size_t>(at / stride);
    if (stored >= reference.values.size()) break;  // finished() finds the count wrong
    const auto ours = static_cast<double>(data[at - offset]);
    double difference = std::abs(ours - reference.values[stored]);
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    if (difference <= progress->result.worst) continue;
    progress->result.worst = difference;
    progress->result.index = at;
    progress->result.ours = ours;
    progress->result.reference = reference.values[stored];
  }
  for (int64_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(data[i]);
    progress->sum += value;
    progress->squares += value * value;
    progress->absmax = std::max(progress->absmax, std::abs(value));
  }
}

StageResult StageChecker::finished(const ReferenceStage& reference, const Progress& progress) const {
  StageResult result = progress.result;
  result.name = reference.name;
  result.tolerance = scale_ * stage_tolerance(reference);
  if (padded(reference)) {
    result.agrees = progress.pieces == static_cast<int64_t>(crop_places_.size()) && result.worst <= result.tolerance;
    return result;
  }
  const int64_t expected = reference.shape.count();
  if (progress.elements != expected) {
    result.agrees = false;
    result.problem = std::to_string(progress.elements) + " values, the reference has " + std::to_string(expected) +
                     " " + reference.shape.to_string();
    return result;
  }
  result.agrees = result.worst <= result.tolerance;
  if (!result.agrees || !reference.stats) return result;
  // If every element is within t, then the mean and the largest are, and the norm is within t * sqrt(count). The second
  // term is the rounding of the stored statistics themselves.
  const auto count = static_cast<double>(expected);
  const StageStats& stats = *reference.stats;
  const double slack = result.tolerance + 1e-9 * stats.absmax;
  const bool close = std::abs(progress.sum / count - stats.mean) <= slack &&
                     std::abs(progress.absmax - stats.absmax) <= slack &&
                     std::abs(std::sqrt(progress.squares) - stats.l2) <= slack * std::sqrt(count);
  if (!close) {
    result.agrees = false;
    result.problem = "the sample agrees, but mean, largest value or norm of the whole don't";
  }
  return result;
}

std::vector<StageResult> StageChecker::results(const std::vector<std::string>& expected) const {
  std::vector<StageResult> results = others_;
  for (const auto& [name, progress] : progress_) results.push_back(finished(dump_.stages.at(name), progress));
  for (const std::string& name : expected) {
    if (dump_.stages.count(name) == 0 || progress_.count(name) > 0) continue;
    StageResult missing;
    missing.name = name;
    missing.agrees = false;
    missing.problem = "the reference has this stage, and this model computed none";
    results.push_back(std::move(missing));
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const StageResult& a, const StageResult& b) { return stage_rank(a.name) < stage_rank(b.name); });
  return results;
}

}  // namespace omniphi::cli

#include "cli/verify/verify.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "cli/processed_tensors.h"

namespace omniphi::cli {
namespace {

// Below this gap between the two best logits, float32 does not decide which one is greedy's choice.
constexpr double kSafeMargin = 2e-3;
constexpr double kLogprobTolerance = 1e-3;

std::vector<int64_t> places_of_crops(const ModelInput& input) {
  int64_t most = 0;
  for (const ImageInput& image : input.images) most = std::max<int64_t>(most, image.layout.crops);
  std::vector<int64_t> places;
  for (size_t i = 0; i < input.images.size(); ++i) {
    for (int64_t crop = 0; crop < input.images[i].layout.crops; ++crop) {
      places.push_back(static_cast<int64_t>(i) * most + crop);
    }
  }
  return places;
}

void check_processor(const ModelInput& input, StageChecker* checker) {
  const ProcessedTensors tensors(input);
  for (const NamedView& tensor : tensors.views()) {
    std::vector<float> values;
    const View& view = tensor.view;
    if (view.dtype == DType::kF32) {
      checker->stage(tensor.name, static_cast<const float*>(view.data), view.shape);
    } else if (view.dtype == DType::kU8) {
      const auto* data = static_cast<const uint8_t*>(view.data);
      checker->whole(tensor.name, std::vector<uint8_t>(data, data + view.count()));
    } else {
      const auto* data = static_cast<const int32_t*>(view.data);
      checker->whole(tensor.name, std::vector<int32_t>(data, data + view.count()));
    }
  }
  std::vector<float> global;
  for (const ImageInput& image : input.images) {
    const auto begin = image.pixel_values.data.begin();
    global.insert(global.end(), begin, begin + image.pixel_values.shape.count() / image.layout.crops);
  }
  if (!global.empty()) checker->whole("pixel_values_global", global);
}

// Puts the reference's own pixels and features in place of ours.
void feed_processed(const ReferenceDump& dump, ModelInput* input) {
  const auto pixels = dump.stages.find("pixel_values");
  if (!input->images.empty() && pixels != dump.stages.end() && pixels->second.stride == 1) {
    const int64_t per_image = pixels->second.shape.count() / static_cast<int64_t>(input->images.size());
    for (size_t i = 0; i < input->images.size(); ++i) {
      std::vector<float>& data = input->images[i].pixel_values.data;
      const auto begin = pixels->second.values.begin() + static_cast<int64_t>(i) * per_image;
      if (static_cast<int64_t>(data.size()) <= per_image) std::copy_n(begin, data.size(), data.begin());
    }
  }
  const auto features = dump.stages.find("audio_features");
  if (!input->audios.empty() && features != dump.stages.end() && features->second.stride == 1) {
    const int64_t per_audio = features->second.shape.count() / static_cast<int64_t>(input->audios.size());
    for (size_t i = 0; i < input->audios.size(); ++i) {
      std::vector<float>& data = input->audios[i].features.data;
      const auto begin = features->second.values.begin() + static_cast<int64_t>(i) * per_audio;
      if (static_cast<int64_t>(data.size()) <= per_audio) std::copy_n(begin, data.size(), data.begin());
    }
  }
}

StageResult check_ids(const std::string& name, const std::vector<int32_t>& ours,
                      const std::vector<int32_t>& reference) {
  StageResult result;
  result.name = name;
  const auto different = std::mismatch(ours.begin(), ours.end(), reference.begin(), reference.end());
  if (different.first == ours.end() && different.second == reference.end()) return result;
  result.agrees = false;
  result.index = different.first - ours.begin();
  if (different.first == ours.end() || different.second == reference.end()) {
    result.problem = std::to_string(ours.size()) + " ids, the reference has " + std::to_string(reference.size());
    return result;
  }
  result.ours = *different.first;
  result.reference = *different.second;
  result.worst = std::abs(result.ours - result.reference);
  return result;
}

void check_continuation(const ReferenceDump& dump, const Generation& generation, double scale, StageChecker* checker) {
  StageResult ids, logprobs;
  ids.name = "generated_ids";
  logprobs.name = "generated_logprobs";
  logprobs.tolerance = scale * kLogprobTolerance;
  if (generation.token_ids.size() != dump.generated_ids.size()) {
    ids.agrees = false;
    ids.problem = std::to_string(generation.token_ids.size()) + " ids, the reference has " +
                  std::to_string(dump.generated_ids.size());
  }
  const size_t steps = std::min(generation.token_ids.size(), dump.generated_ids.size());
  for (size_t i = 0; i < steps; ++i) {
    const int32_t ours = generation.token_ids[i], reference = dump.generated_ids[i];
    const bool tie = i < dump.generated_margins.size() && dump.generated_margins[i] < kSafeMargin;
    if (ours != reference) {
      if (tie) break;  // both are greedy's choice within rounding; what follows has another history
      ids.agrees = false;
      ids.index = static_cast<int64_t>(i);
      ids.ours = ours;
      ids.reference = reference;
      ids.worst = std::abs(ours - reference);
      break;
    }
    if (i >= dump.generated_logprobs.size()) continue;
    const double difference = std::abs(static_cast<double>(generation.logprobs[i]) - dump.generated_logprobs[i]);
    if (difference <= logprobs.worst) continue;
    logprobs.worst = difference;
    logprobs.index = static_cast<int64_t>(i);
    logprobs.ours = static_cast<double>(generation.logprobs[i]);
    logprobs.reference = dump.generated_logprobs[i];
  }
  logprobs.agrees = logprobs.worst <= logprobs.tolerance;
  checker->add(ids);
  if (!dump.generated_logprobs.empty()) checker->add(logprobs);
}

// The stages that a forward pass delivers.
std::vector<std::string> forward_stages(const ReferenceDump& dump) {
  std::vector<std::string> names;
  for (const auto& [name, stage] : dump.stages) {
    const bool forward = name.rfind("vision.", 0) == 0 || name.rfind("audio.", 0) == 0 ||
                         name.rfind("decoder.", 0) == 0 || name == "logprobs" || name == "last_logits";
    if (forward) names.push_back(name);
  }
  return names;
}

}  // namespace

const StageResult* VerifyResult::first_difference() const {
  for (const StageResult& stage : stages) {
    if (!stage.agrees) return &stage;
  }
  return nullptr;
}

VerifyResult verify(Session* session, const ReferenceDump& dump, double scale) {
  PrepareOptions prepare;
  prepare.reference_media = true;
  ModelInput input = session->prepare(dump.prompt, prepare);
  VerifyResult result;
  result.name = dump.name;
  result.input_mode = input_mode_name(input.mode);
  result.prompt_tokens = static_cast<int64_t>(input.ids.size());

  StageChecker checker(dump, places_of_crops(input), scale);
  checker.add(check_ids("prompt_ids_unexpanded",
                        prompt_ids(*session->family().prompts, session->tokenizer(), dump.prompt), dump.prompt_ids));
  check_processor(input, &checker);
  if (dump.feed_processed) {
    feed_processed(dump, &input);
    result.note = "the model was fed with the dump's own pixels and features";
  }
  if (dump.padded_audios) {
    result.note =
        "model stages are left out: the reference padded several audios to each other here, and omniphi "
        "encodes each on its own";
    result.stages = checker.results({});
    return result;
  }
  ScoreOptions score;
  score.trace = &checker;
  session->engine().score(input, score);
  if (!dump.generated_ids.empty()) {
    GenerationOptions options;
    options.max_tokens = static_cast<int64_t>(dump.generated_ids.size());
    options.ignore_eos = true;
    const Generation generation = session->engine().generate(input, options);
    check_continuation(dump, generation, scale, &checker);
    result.timings = generation.timings;
  }
  result.stages = checker.results(forward_stages(dump));
  return result;
}

}  // namespace omniphi::cli

#include "cli/plan/plan_output.h"

#include <cmath>
#include <cstdio>
#include <ostream>

namespace omniphi::cli {
namespace {

// A cache that outgrows the weights so many times at the model's limit is no use at that limit.
constexpr double kShortContext = 4;

OrderedJson whole_shares(const Shares& shares) {
  OrderedJson json;
  for (const auto& [name, share] : shares) json[name] = static_cast<int64_t>(std::llround(share));
  json["total"] = static_cast<int64_t>(std::llround(total(shares)));
  return json;
}

OrderedJson images_json(const PlanRequest& request, const Plan& plan) {
  OrderedJson images = OrderedJson::array();
  for (size_t i = 0; i < request.images.size(); ++i) {
    OrderedJson sweep = OrderedJson::array();
    for (const CropChoice& choice : plan.image_sweeps[i]) {
      sweep.push_back(OrderedJson{{"max_image_crops", choice.max_crops},
                                  {"grid", {choice.layout.grid_cols, choice.layout.grid_rows}},
                                  {"crops", choice.layout.crops},
                                  {"tokens", choice.layout.tokens}});
    }
    images.push_back(OrderedJson{{"name", request.images[i].name},
                                 {"width", request.images[i].width},
                                 {"height", request.images[i].height},
                                 {"tokens", plan.images[i].tokens},
                                 {"crops", plan.images[i].crops},
                                 {"sweep", sweep}});
  }
  return images;
}

OrderedJson kv_json(const Plan& plan) {
  OrderedJson json;
  for (const KvPlan& kv : plan.kv) {
    json[kv.dtype] = OrderedJson{{"bytes_per_token", kv.bytes_per_token},
                                 {"context_bytes", kv.context_bytes},
                                 {"prompt_bytes", kv.prompt_bytes},
                                 {"longest_context", kv.longest_context}};
  }
  return json;
}

std::string number_text(double value, const char* format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

void print_shares(std::ostream& out, const Shares& shares, const std::string& title, bool bytes) {
  const double sum = total(shares);
  out << title << ": " << (bytes ? bytes_text(sum) : number_text(sum / 1e12, "%.3f TFLOP")) << "\n";
  for (const auto& [name, share] : shares) {
    if (share <= 0) continue;
    char line[120];
    std::snprintf(line, sizeof line, "  %-22s %12s  %5.1f %%\n", name.c_str(),
                  (bytes ? bytes_text(share) : number_text(share / 1e12, "%.3f")).c_str(), 100 * share / sum);
    out << line;
  }
}

void print_images(std::ostream& out, const PlanRequest& request, const Plan& plan) {
  for (size_t i = 0; i < request.images.size(); ++i) {
    const PlannedImage& image = request.images[i];
    out << "image " << image.name;
    if (image.name != std::to_string(image.width) + "x" + std::to_string(image.height)) {
      out << " (" << image.width << "x" << image.height << ")";
    }
    out << ": " << plan.images[i].tokens << " tokens at --max-image-crops " << plan.max_crops << "\n";
    out << "  max-image-crops    grid   crops    tokens\n";
    for (const CropChoice& choice : plan.image_sweeps[i]) {
      char line[100];
      std::snprintf(line, sizeof line, "  from %2d          %3dx%-3d   %5d   %7d\n", choice.max_crops,
                    choice.layout.grid_cols, choice.layout.grid_rows, choice.layout.crops, choice.layout.tokens);
      out << line;
    }
  }
  out << "any image: at most " << plan.max_image_tokens << " tokens\n";
}

void print_prompt(std::ostream& out, const PlanRequest& request, const Plan& plan) {
  for (const PlannedAudio& audio : request.audios) {
    out << "audio " << audio.name << ": " << audio.tokens << " tokens\n";
  }
  if (plan.audio_tokens_per_second > 0) {
    out << "audio: about " << number_text(plan.audio_tokens_per_second, "%.1f") << " tokens a second\n";
  }
  out << "\n";
  out << "prompt: " << plan.prompt_tokens() << " tokens (" << plan.text_tokens << " text, " << plan.image_tokens
      << " image, " << plan.audio_tokens << " audio)";
  if (plan.text_tokens > 0) out << ", media to text " << number_text(plan.media_to_text(), "%.1f") << " : 1";
  out << "\n";
  if (plan.long_rope) {
    out << "  beyond LongRoPE's original context: the long factors apply from the first token\n";
  }
  if (plan.prompt_tokens() > plan.context_limit) out << "  does not fit the model's context\n";
}

void print_kv(std::ostream& out, const Plan& plan) {
  out << "KV cache    a token   this prompt   " << plan.context_tokens << " tokens   longest context that fits\n";
  for (const KvPlan& kv : plan.kv) {
    char line[160];
    std::snprintf(line, sizeof line, "  %-5s %9lld B %13s %15s   %lld%s\n", kv.dtype.c_str(),
                  static_cast<long long>(kv.bytes_per_token), bytes_text(static_cast<double>(kv.prompt_bytes)).c_str(),
                  bytes_text(static_cast<double>(kv.context_bytes)).c_str(), static_cast<long long>(kv.longest_context),
                  kv.longest_context == plan.context_limit ? " (the model's limit)" : "");
    out << line;
  }
  for (const std::string& remark : remarks(plan)) out << "  " << remark << "\n";
  out << "  of " << bytes_text(static_cast<double>(plan.available_bytes))
      << " that this machine can give, beside the weights and 1 GiB\n";
}

}  // namespace

std::string bytes_text(double bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  char text[40];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", bytes, kUnits[unit]);
  return text;
}

std::string work_text(double flops) {
  return flops < 1e12 ? number_text(flops / 1e9, "%.2f GFLOP") : number_text(flops / 1e12, "%.3f TFLOP");
}

std::vector<std::string> remarks(const Plan& plan) {
  std::vector<std::string> list;
  if (plan.advised_crops > 0) {
    list.push_back("for a single picture the publisher advises --max-image-crops " +
                   std::to_string(plan.advised_crops));
  }
  if (plan.shares_no_keys) {
    list.push_back("every head keeps keys and values of its own: " + number_text(plan.kv_to_first_family, "%.1f") +
                   " times the bytes a token of the released Phi-4-multimodal's cache");
  }
  if (plan.full_kv_to_weights > kShortContext) {
    const auto limit = static_cast<double>(plan.context_limit);
    list.push_back("at the model's limit of " + std::to_string(plan.context_limit) + " tokens a bf16 cache takes " +
                   bytes_text(static_cast<double>(plan.kv.front().bytes_per_token) * limit) + ", " +
                   number_text(plan.full_kv_to_weights, "%.1f") +
                   " times the weights: a short-context model in practice");
  }
  return list;
}

OrderedJson plan_json(const std::string& model, const PlanRequest& request, const Plan& plan) {
  OrderedJson json;
  json["model"] = model;
  json["family"] = plan.family;
  json["max_image_crops"] = plan.max_crops;
  if (plan.advised_crops > 0) json["advised_image_crops"] = plan.advised_crops;
  json["images"] = images_json(request, plan);
  json["max_image_tokens"] = plan.max_image_tokens;
  json["audios"] = OrderedJson::array();
  for (const PlannedAudio& audio : request.audios) {
    json["audios"].push_back(OrderedJson{
        {"name", audio.name}, {"seconds", json_double(audio.seconds, "seconds")}, {"tokens", audio.tokens}});
  }
  json["audio_tokens_per_second"] = plan.audio_tokens_per_second;
  json["prompt"] = OrderedJson{{"text_tokens", plan.text_tokens},
                               {"image_tokens", plan.image_tokens},
                               {"audio_tokens", plan.audio_tokens},
                               {"prompt_tokens", plan.prompt_tokens()},
                               {"media_to_text", json_double(plan.media_to_text(), "media_to_text")},
                               {"long_rope", plan.long_rope},
                               {"fits_context", plan.prompt_tokens() <= plan.context_limit}};
  json["context"] = OrderedJson{{"limit", plan.context_limit}, {"tokens", plan.context_tokens}};
  json["kv"] = kv_json(plan);
  json["kv_to_first_family"] = json_double(plan.kv_to_first_family, "kv_to_first_family");
  json["full_kv_to_weights"] = json_double(plan.full_kv_to_weights, "full_kv_to_weights");
  json["available_bytes"] = plan.available_bytes;
  json["prefill_flops"] = whole_shares(plan.prefill_flops);
  json["dominant"] = largest(plan.prefill_flops);
  json["dominant_tokens"] = plan.dominant_tokens().first;
  json["decode_flops_per_token"] = static_cast<int64_t>(std::llround(plan.decode_flops));
  json["weight_bytes"] = whole_shares(plan.weight_bytes);
  json["working_bytes"] = whole_shares(plan.working_bytes);
  return json;
}

void print_plan(const std::string& model, const PlanRequest& request, const Plan& plan, std::ostream& out) {
  out << model << "\n\n";
  print_images(out, request, plan);
  print_prompt(out, request, plan);
  out << "\n";
  print_shares(out, plan.prefill_flops, "prefill work", false);
  const auto [kind, share] = plan.dominant_tokens();
  out << "  what dominates: " << largest(plan.prefill_flops) << "; " << number_text(100 * share, "%.0f")
      << " % of the tokens are " << kind << " tokens\n";
  out << "a token of the answer: " << number_text(plan.decode_flops / 1e9, "%.2f GFLOP")
      << ", and all the decoder's weights are read once\n\n";
  print_kv(out, plan);
  out << "\n";
  print_shares(out, plan.weight_bytes, "weights as bf16 (mapped)", true);
  print_shares(out, plan.working_bytes, "work space of the prefill", true);
}

}  // namespace omniphi::cli

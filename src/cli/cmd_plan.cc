// omniphi plan: what a prompt costs, from the configuration alone.
#include <charconv>
#include <iostream>
#include <optional>

#include "base/error.h"
#include "cli/app.h"
#include "cli/plan/comparison.h"
#include "cli/plan/plan.h"
#include "cli/plan/plan_output.h"
#include "cli/report.h"
#include "cli/shipped_model.h"
#include "io/json.h"
#include "io/model_path.h"
#include "media/image_decode.h"
#include "models/registry/registry.h"
#include "request/media_source.h"

namespace omniphi::cli {
namespace {

// An image or audio in the order of the command line.
struct PlanMedium {
  enum class Kind : uint8_t { kImageSize, kImageFile, kAudioSeconds, kAudioFile };
  Kind kind;
  std::string text;
};

// What is planned for: a model's folder or a preset.
struct PlanSubject {
  bool preset = false;
  std::string name;
};

struct PlanFlags {
  std::vector<PlanSubject> subjects;  // in the order of the command line
  std::vector<PlanMedium> media;
  PlanRequest request;
  double memory_gib = 0;
  bool json = false;
};

PlannedImage parse_size(const std::string& text) {
  PlannedImage image;
  image.name = text;
  const size_t x = text.find_first_of("xX");
  bool good = x != std::string::npos;
  if (good) {
    const char* begin = text.data();
    const auto width = std::from_chars(begin, begin + x, image.width);
    const auto height = std::from_chars(begin + x + 1, begin + text.size(), image.height);
    good = width.ec == std::errc() && width.ptr == begin + x && height.ec == std::errc() &&
           height.ptr == begin + text.size() && image.width > 0 && image.height > 0;
  }
  if (!good) throw Error(ErrorKind::kUsage, "--image-size", show_text(text), "WIDTHxHEIGHT in pixels, as in 1344x1792");
  return image;
}

PlannedAudio parse_seconds(const ModelFamily& family, const std::string& text) {
  PlannedAudio audio;
  audio.name = text + " s";
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), audio.seconds);
  constexpr double kLongest = 4 * 3600;  // what the decoder accepts
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || !(audio.seconds > 0) ||
      audio.seconds > kLongest) {
    throw Error(ErrorKind::kUsage, "--audio-seconds", show_text(text), "seconds above 0, at most 14400");
  }
  if (family.audio_tokens != nullptr) audio.tokens = family.audio_tokens(audio.seconds);
  return audio;
}

PlannedAudio read_audio(const ModelFamily& family, const std::string& path) {
  if (family.process_audio == nullptr) return {path, 0, 0};  // make_plan() refuses it
  const std::string bytes = load_media(media_from_path(MediaKind::kAudio, path));
  AudioRequest request;
  request.bytes = bytes;
  request.name = path;
  request.max_bytes = max_media_bytes(MediaKind::kAudio);
  const AudioInput audio = family.process_audio(request);
  return {path, audio.seconds, audio.num_tokens};
}

void add_medium(const ModelFamily& family, const PlanMedium& medium, PlanRequest* request) {
  switch (medium.kind) {
    case PlanMedium::Kind::kImageSize:
      request->images.push_back(parse_size(medium.text));
      break;
    case PlanMedium::Kind::kAudioSeconds:
      request->audios.push_back(parse_seconds(family, medium.text));
      break;
    case PlanMedium::Kind::kImageFile: {
      const Image image = decode_image(load_media(media_from_path(MediaKind::kImage, medium.text)), medium.text);
      request->images.push_back({medium.text, image.width, image.height});
      break;
    }
    case PlanMedium::Kind::kAudioFile:
      request->audios.push_back(read_audio(family, medium.text));
      break;
  }
}

void check_flags(const PlanFlags& flags) {
  const PlanRequest& request = flags.request;
  if (request.text_tokens < 0) {
    throw Error(ErrorKind::kUsage, "--text-tokens", std::to_string(request.text_tokens), "0 or more");
  }
  if (request.context_tokens < 0) {
    throw Error(ErrorKind::kUsage, "--context", std::to_string(request.context_tokens), "1 or more");
  }
  if (request.prefill_chunk < 1) {
    throw Error(ErrorKind::kUsage, "--prefill-chunk", std::to_string(request.prefill_chunk), "1 or more");
  }
  if (!(flags.memory_gib >= 0 && flags.memory_gib < 1e6)) {
    throw Error(ErrorKind::kUsage, "--memory-gib", std::to_string(flags.memory_gib), "0 or more");
  }
}

NamedPlan plan_for(const PlanSubject& subject, const PlanFlags& flags) {
  NamedPlan result;
  const ModelFamily* family = nullptr;
  ModelConfig config;
  if (subject.preset) {
    result.name = "preset " + subject.name;
    family = &family_of_preset(subject.name);
    config = family->preset(subject.name);
  } else {
    result.name = subject.name;
    const std::filesystem::path folder = resolve_model(model_or_shipped(subject.name));
    family = &family_of_folder(folder);
    ConfigReport report = family->open_config(folder);
    report_warnings(report.warnings);
    config = std::move(report.config);
  }
  result.request = flags.request;
  result.request.memory_bytes = static_cast<int64_t>(flags.memory_gib * 0x1p30);
  for (const PlanMedium& medium : flags.media) add_medium(*family, medium, &result.request);
  result.plan = make_plan(*family, config, result.request);
  return result;
}

int plan(const PlanFlags& flags) {
  check_flags(flags);
  std::vector<PlanSubject> subjects = flags.subjects;
  if (subjects.empty()) subjects.push_back({true, std::string(model_families().front()->presets.front())});
  std::vector<NamedPlan> plans;
  for (const PlanSubject& subject : subjects) plans.push_back(plan_for(subject, flags));
  if (plans.size() > 1) {
    if (flags.json) {
      print_json_line(comparison_json(plans));
    } else {
      print_comparison(plans, std::cout);
    }
    return 0;
  }
  const NamedPlan& only = plans.front();
  if (flags.json) {
    print_json_line(plan_json(only.name, only.request, only.plan));
  } else {
    print_plan(only.name, only.request, only.plan, std::cout);
  }
  return 0;
}

void add_subject_option(CLI::App* verb, PlanFlags* flags, bool preset, const char* name, const std::string& help,
                        const char* type) {
  verb->add_option_function<std::string>(
          name,
          [flags, preset](const std::string& text) {
            flags->subjects.push_back({preset, text});
          },
          help)
      ->trigger_on_parse()
      ->type_name(type);
}

void add_medium_option(CLI::App* verb, PlanFlags* flags, PlanMedium::Kind kind,
                       const std::pair<const char*, const char*>& name_and_type) {
  static constexpr const char* kHelp[] = {"An image of this size (repeatable)", "An image file (repeatable)",
                                          "An audio of this length (repeatable)", "An audio file (repeatable)"};
  verb->add_option_function<std::string>(
          name_and_type.first,
          [flags, kind](const std::string& text) {
            flags->media.push_back({kind, text});
          },
          kHelp[static_cast<size_t>(kind)])
      ->trigger_on_parse()
      ->type_name(name_and_type.second);
}

}  // namespace

void add_plan(CLI::App* root, Action* action) {
  auto flags = std::make_shared<PlanFlags>();
  CLI::App* verb = add_verb(root, "plan", "Say what a prompt costs: tokens, KV cache, work and memory",
                            "  omniphi plan --image-size 1344x1792\n"
                            "  omniphi plan --image-size 2688x2688 --audio-seconds 30 --max-image-crops 9 --json\n"
                            "  omniphi plan --model ./phi4mm --image receipt.jpg --audio question.m4a\n"
                            "  omniphi plan --preset phi4mm --preset phi3.5v --image-size 1344x1792   (side by side)\n"
                            "Needs only the configuration; without --model that of the released model.");
  add_subject_option(verb, flags.get(), false, "--model,-m",
                     "Folder, repository id or nano; only its configuration is read (repeatable: side by side)",
                     "MODEL");
  add_subject_option(verb, flags.get(), true, "--preset", "Built-in configuration: " + preset_names() + " (repeatable)",
                     "NAME");
  add_medium_option(verb, flags.get(), PlanMedium::Kind::kImageSize, {"--image-size", "WxH"});
  add_medium_option(verb, flags.get(), PlanMedium::Kind::kImageFile, {"--image", "FILE"});
  add_medium_option(verb, flags.get(), PlanMedium::Kind::kAudioSeconds, {"--audio-seconds", "S"});
  add_medium_option(verb, flags.get(), PlanMedium::Kind::kAudioFile, {"--audio", "FILE"});
  PlanRequest& request = flags->request;
  verb->add_option("--text-tokens", request.text_tokens, "Text tokens of the prompt")
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--max-image-crops", request.max_crops,
                   "Crop limit to plan with (default: the checkpoint's own number)")
      ->type_name("N");
  verb->add_option("--context", request.context_tokens, "Context to size the KV cache for (default: the model's limit)")
      ->type_name("N");
  verb->add_option("--prefill-chunk", request.prefill_chunk, "Prompt tokens that run together")
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--memory-gib", flags->memory_gib, "Memory to plan with (default: what the machine can give now)")
      ->type_name("GIB");
  verb->add_flag("--json", flags->json, "One line of JSON on standard output");
  verb->callback([flags, action] { *action = [flags] { return plan(*flags); }; });
}

}  // namespace omniphi::cli

#include "cli/input_flags.h"

#include "base/error.h"
#include "base/utf8.h"
#include "request/messages.h"

namespace omniphi::cli {
namespace {

void add_media_option(CLI::App* verb, MediaKind kind, InputFlags* flags) {
  const bool image = kind == MediaKind::kImage;
  verb->add_option_function<std::string>(
          image ? "--image" : "--audio",
          [kind, flags](const std::string& path) { flags->media.emplace_back(kind, path); },
          image ? "Image file: JPEG, PNG, WebP, GIF, BMP or TIFF (repeatable)"
                : "Audio file: WAV, FLAC, MP3, Ogg, Opus, M4A or WebM (repeatable)")
      ->trigger_on_parse()  // one call each, in command-line order across both flags
      ->type_name("FILE");
}

[[noreturn]] void contradict(const std::string& flag, const std::string& other, const std::string& remedy) {
  throw Error(ErrorKind::kUsage, flag, "together with " + other, "one of the two", remedy);
}

void check_text(const std::string& flag, const std::string& text) {
  const size_t at = find_invalid_utf8(text);
  if (at != std::string::npos) {
    throw Error(ErrorKind::kInput, flag, "bytes that are not UTF-8, from byte " + std::to_string(at), "UTF-8");
  }
}

std::vector<MediaSource> media_of_flags(const InputFlags& flags) {
  std::vector<MediaSource> media;
  for (const auto& [kind, path] : flags.media) {
    const std::string flag = kind == MediaKind::kImage ? "--image" : "--audio";
    media.push_back(media_from_url(kind, path, {}, flag));
  }
  return media;
}

}  // namespace

void add_media_flags(CLI::App* verb, InputFlags* flags) {
  verb->add_option("--max-image-crops", flags->max_image_crops,
                   "Most crops that an image is cut into beside its global view: Phi-4-multimodal 1 to 36 of 448x448, "
                   "Phi-3.5-vision 1 to 16 of 336x336 (default: the checkpoint's own number). The biggest lever on an "
                   "image's cost")
      ->type_name("N");
  verb->add_flag("--reference-media", flags->reference_media,
                 "Decode media as the reference does: EXIF orientation ignored, alpha dropped, sample rates divided by "
                 "whole numbers. For comparisons");
}

void add_input_flags(CLI::App* verb, InputFlags* flags) {
  verb->add_option("prompt,--prompt", flags->prompt, "Text of the user turn; it follows the media")->type_name("TEXT");
  add_media_option(verb, MediaKind::kImage, flags);
  add_media_option(verb, MediaKind::kAudio, flags);
  verb->add_option_function<std::string>("--video",
                                         [](const std::string& path) {
                                           throw Error(ErrorKind::kInput, path, "a video", "images or audio",
                                                       "the model takes no video: extract frames or the sound track");
                                         })
      ->group("");
  verb->add_option("--system", flags->system, "Text of the system message")->type_name("TEXT");
  verb->add_option("--messages", flags->messages_file,
                   "JSON file with an OpenAI message list, or {\"messages\": [...], \"tools\": [...]}; relative paths "
                   "in it start from its folder; - is standard input")
      ->type_name("FILE");
  verb->add_option("--token-ids", flags->token_ids_file,
                   "JSON file with a list of token ids, one media id for each --image and --audio; nothing is added")
      ->type_name("FILE");
  verb->add_flag("--raw-prompt", flags->raw_prompt,
                 "Take the prompt as it stands: control tokens and markers such as <|image_1|> are parsed, and no chat "
                 "template is added");
  add_media_flags(verb, flags);
}

void check_input_flags(const InputFlags& flags) {
  if (flags.max_image_crops != 0 && (flags.max_image_crops < 1 || flags.max_image_crops > 36)) {
    throw Error(ErrorKind::kUsage, "--max-image-crops", std::to_string(flags.max_image_crops), "1 to 36");
  }
  if (flags.messages_file && flags.token_ids_file) contradict("--messages", "--token-ids", "");
  if (flags.messages_file) {
    if (flags.prompt) contradict("--messages", "a prompt", "put the prompt into the message list as a user message");
    if (flags.system) contradict("--messages", "--system", "put it into the message list as a system message");
    if (!flags.media.empty()) contradict("--messages", "--image or --audio", "put the media into the message list");
  }
  if (flags.token_ids_file) {
    if (flags.prompt) contradict("--token-ids", "a prompt", "the ids are the whole prompt");
    if (flags.system) contradict("--token-ids", "--system", "the ids are the whole prompt");
  }
  if (flags.raw_prompt) {
    if (!flags.prompt) throw Error(ErrorKind::kUsage, "--raw-prompt", "no prompt", "a prompt");
    if (flags.system) contradict("--raw-prompt", "--system", "write <|system|>TEXT<|end|> into the prompt");
  }
}

Prompt make_prompt(const InputFlags& flags) {
  check_input_flags(flags);
  Prompt prompt;
  if (flags.messages_file) {
    prompt = read_messages(*flags.messages_file);
  } else if (flags.token_ids_file) {
    prompt.form = Prompt::Form::kTokenIds;
    prompt.media = media_of_flags(flags);
    prompt.ids = read_token_ids(*flags.token_ids_file);
  } else if (flags.raw_prompt) {
    prompt.form = Prompt::Form::kRaw;
    prompt.media = media_of_flags(flags);
    prompt.raw = *flags.prompt;
    check_text("the prompt", prompt.raw);
  } else {
    if (flags.system) {
      check_text("--system", *flags.system);
      add_text_turn(&prompt, "system", *flags.system);
    }
    check_text("the prompt", flags.prompt.value_or(""));
    add_user_turn(&prompt, media_of_flags(flags), flags.prompt.value_or(""));
  }
  for (const MediaSource& source : prompt.media) check_media(source);
  return prompt;
}

}  // namespace omniphi::cli

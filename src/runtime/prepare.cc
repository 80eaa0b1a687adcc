#include "runtime/prepare.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "media/image_decode.h"

namespace omniphi {
namespace {

ImageInput load_image(const ModelFamily& family, const MediaSource& source, int max_crops,
                      const PrepareOptions& options) {
  ImageOptions decode;
  decode.reference_media = options.reference_media;
  decode.max_bytes = max_media_bytes(MediaKind::kImage);
  const Image image = decode_image(load_media(source), source.name, decode);
  if (options.see_image) options.see_image(image);
  if (source.max_crops > 0) max_crops = std::min(max_crops, source.max_crops);
  return family.process_image(image, max_crops, source.name);
}

AudioInput load_audio(const ModelFamily& family, const MediaSource& source, const PrepareOptions& options) {
  const std::string bytes = load_media(source);
  AudioRequest request;
  request.bytes = bytes;
  request.name = source.name;
  request.reference_media = options.reference_media;
  request.max_bytes = max_media_bytes(MediaKind::kAudio);
  return family.process_audio(request);
}

size_t media_of_kind(const Prompt& prompt, MediaKind kind) {
  return static_cast<size_t>(std::count_if(prompt.media.begin(), prompt.media.end(),
                                           [kind](const MediaSource& source) { return source.kind == kind; }));
}

}  // namespace

std::vector<int32_t> prompt_ids(const PromptStyle& style, const Tokenizer& tokenizer, const Prompt& prompt,
                                const PrepareOptions& options) {
  switch (prompt.form) {
    case Prompt::Form::kTokenIds:
      return prompt.ids;
    case Prompt::Form::kRaw:
      return raw_prompt_ids(style, tokenizer, prompt.raw, media_of_kind(prompt, MediaKind::kImage));
    default:
      break;
  }
  ChatOptions chat;
  chat.add_generation_prompt = options.add_generation_prompt;
  chat.tools = prompt.tools;
  return chat_ids(style, tokenizer, prompt.messages, chat);
}

int image_crops(const ModelFamily& family, const ModelConfig& config, int requested) {
  if (requested == 0) return config.vision.max_crops;
  const int limit = family.max_crops(config);
  if (requested < 0 || requested > limit) {
    throw Error(ErrorKind::kUsage, "--max-image-crops", std::to_string(requested),
                "1 to " + std::to_string(limit) + ", what " + family.title + " takes");
  }
  return requested;
}

ModelInput prepare_input(const ModelFamily& family, const ModelConfig& config, const Tokenizer& tokenizer,
                         const Prompt& prompt, const PrepareOptions& options) {
  const int max_crops = image_crops(family, config, options.max_image_crops);
  const std::vector<int32_t> ids = prompt_ids(*family.prompts, tokenizer, prompt, options);
  // Fewer slots than media, or more, is found before a minute of audio is decoded.
  family.check_slots(config, ids, media_of_kind(prompt, MediaKind::kImage), media_of_kind(prompt, MediaKind::kAudio));
  std::vector<ImageInput> images;
  std::vector<AudioInput> audios;
  for (const MediaSource& source : prompt.media) {
    if (options.progress) options.progress("reading " + source.name);
    if (source.kind == MediaKind::kImage) {
      images.push_back(load_image(family, source, max_crops, options));
    } else {
      audios.push_back(load_audio(family, source, options));
    }
  }
  return family.build_input(config, ids, std::move(images), std::move(audios));
}

}  // namespace omniphi

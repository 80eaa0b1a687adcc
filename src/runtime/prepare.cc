#include "runtime/prepare.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "media/image_decode.h"
#include "models/phi4mm/processor/audio_processor.h"
#include "models/phi4mm/processor/image_processor.h"
#include "text/chat_template.h"

namespace omniphi {
namespace {

int crop_limit(const phi4mm::Config& config, const PrepareOptions& options) {
  const int limit = config.vision.max_crops;
  if (options.max_image_crops == 0) return limit;
  if (options.max_image_crops < 0 || options.max_image_crops > limit) {
    throw Error(ErrorKind::kUsage, "--max-image-crops", std::to_string(options.max_image_crops),
                "1 to " + std::to_string(limit) + ", this checkpoint's limit");
  }
  return options.max_image_crops;
}

ImageInput load_image(const MediaSource& source, int max_crops, const PrepareOptions& options) {
  ImageOptions decode;
  decode.reference_media = options.reference_media;
  decode.max_bytes = max_media_bytes(MediaKind::kImage);
  const Image image = decode_image(load_media(source), source.name, decode);
  if (options.see_image) options.see_image(image);
  if (source.max_crops > 0) max_crops = std::min(max_crops, source.max_crops);
  return process_image(image, max_crops, source.name);
}

phi4mm::AudioInput load_audio(const MediaSource& source, const PrepareOptions& options) {
  phi4mm::AudioProcessorOptions process;
  process.reference_media = options.reference_media;
  process.decode.max_bytes = max_media_bytes(MediaKind::kAudio);
  return phi4mm::process_audio(load_media(source), source.name, process);
}

// Fewer markers than media, or more, is found before a minute of audio is decoded.
void check_media_counts(const phi4mm::Config& config, const std::vector<int32_t>& ids, const Prompt& prompt) {
  const auto check = [&](MediaKind kind, int32_t id) {
    const auto wanted = std::count(ids.begin(), ids.end(), id);
    const auto given = std::count_if(prompt.media.begin(), prompt.media.end(),
                                     [kind](const MediaSource& source) { return source.kind == kind; });
    if (wanted == given) return;
    const std::string name = media_kind_name(kind);
    throw Error(ErrorKind::kInput, "the prompt",
                std::to_string(wanted) + " " + name + " slots (token id " + std::to_string(id) + ") and " +
                    std::to_string(given) + " " + name + " files",
                "one slot for each file",
                wanted > given ? "a prompt holds one id for each medium; the engine expands it" : "");
  };
  check(MediaKind::kImage, config.image_token_id);
  check(MediaKind::kAudio, config.audio_token_id);
}

}  // namespace

std::vector<int32_t> prompt_ids(const Tokenizer& tokenizer, const Prompt& prompt, const PrepareOptions& options) {
  if (prompt.form == Prompt::Form::kTokenIds) return prompt.ids;
  std::vector<int32_t> ids;
  if (prompt.form == Prompt::Form::kRaw) {
    encode_pieces(tokenizer, parse_raw_prompt(tokenizer, prompt.raw), &ids);
    return ids;
  }
  ChatOptions chat;
  chat.add_generation_prompt = options.add_generation_prompt;
  chat.tools = prompt.tools;
  encode_pieces(tokenizer, render_chat(prompt.messages, chat), &ids);
  return ids;
}

phi4mm::ModelInput prepare_input(const phi4mm::Config& config, const Tokenizer& tokenizer, const Prompt& prompt,
                                 const PrepareOptions& options) {
  const int max_crops = crop_limit(config, options);
  const std::vector<int32_t> ids = prompt_ids(tokenizer, prompt, options);
  check_media_counts(config, ids, prompt);
  std::vector<ImageInput> images;
  std::vector<phi4mm::AudioInput> audios;
  for (const MediaSource& source : prompt.media) {
    if (options.progress) options.progress("reading " + source.name);
    if (source.kind == MediaKind::kImage) {
      images.push_back(load_image(source, max_crops, options));
    } else {
      audios.push_back(load_audio(source, options));
    }
  }
  return phi4mm::build_input(config, ids, std::move(images), std::move(audios));
}

}  // namespace omniphi

// The tiny checkpoint of the goldens, loaded for a test.
#pragma once

#include <string>
#include <vector>

#include "media/image_decode.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/model.h"
#include "models/phi4mm/processor/processor.h"
#include "testing/golden.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace omniphi::testing {

struct TinyModel {
  explicit TinyModel(const std::string& folder = golden_root() + "/checkpoint")
      : checkpoint(phi4mm::Checkpoint::open(folder)), tokenizer(Tokenizer::load(folder)), model(checkpoint) {}

  phi4mm::Checkpoint checkpoint;
  Tokenizer tokenizer;
  phi4mm::Model model;

  // Token ids of a prompt with markers, one for each medium.
  std::vector<int32_t> raw_ids(const std::string& prompt) const {
    std::vector<int32_t> ids;
    encode_pieces(tokenizer, parse_raw_prompt(tokenizer, prompt), &ids);
    return ids;
  }

  // A prompt with markers and its media, by paths inside the goldens, processed as the reference does.
  ModelInput raw_input(const std::string& prompt, const std::vector<std::string>& images = {},
                       const std::vector<std::string>& audios = {}) const {
    std::vector<ImageInput> processed_images;
    for (const std::string& path : images) {
      ImageOptions options;
      options.reference_media = true;
      const Image image = decode_image(read_test_file(golden_path(path)), path, options);
      processed_images.push_back(phi4mm::process_image(image, checkpoint.config().vision.max_crops, path));
    }
    std::vector<AudioInput> processed_audios;
    for (const std::string& path : audios) {
      phi4mm::AudioProcessorOptions options;
      options.reference_media = true;
      processed_audios.push_back(phi4mm::process_audio(read_test_file(golden_path(path)), path, options));
    }
    return phi4mm::build_input(checkpoint.config(), raw_ids(prompt), std::move(processed_images),
                               std::move(processed_audios));
  }
};

}  // namespace omniphi::testing

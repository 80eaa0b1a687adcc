// From a request to the model's input: template, token ids, decoded and processed media.
#pragma once

#include <functional>
#include <string>

#include "media/image.h"
#include "models/family/family.h"
#include "request/prompt.h"
#include "text/tokenizer.h"

namespace omniphi {

struct PrepareOptions {
  int max_image_crops = 0;            // local crops of an image; 0: the checkpoint's own number
  bool reference_media = false;       // decode and resample as the reference does, for comparisons
  bool add_generation_prompt = true;  // a chat ends with <|assistant|>, else with <|endoftext|>
  // Told what long work begins. May be empty.
  std::function<void(const std::string&)> progress;
  // Shown every decoded image, as large as it is, in the order of the prompt. May be empty.
  std::function<void(const Image&)> see_image;
};

// Token ids with one id for each medium, before any medium is read. Throws kInput as the chat template and the
// tokenizer do.
std::vector<int32_t> prompt_ids(const PromptStyle& style, const Tokenizer& tokenizer, const Prompt& prompt,
                                const PrepareOptions& options = {});

// The crops that images are cut into at most: `requested`, or the checkpoint's own number when it is 0. Throws kUsage
// when the family can't have so many.
int image_crops(const ModelFamily& family, const ModelConfig& config, int requested);

// The whole input. Needs no weights. Throws kInput naming the medium or the place in the prompt, and kUsage as
// image_crops() does.
ModelInput prepare_input(const ModelFamily& family, const ModelConfig& config, const Tokenizer& tokenizer,
                         const Prompt& prompt, const PrepareOptions& options = {});

}  // namespace omniphi

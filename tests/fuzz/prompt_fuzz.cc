// Raw prompts and lists of ids of both families: refused as omniphi::Error or turned into ids whose slots are in order,
// nothing else.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "models/phi3v/processor/processor.h"
#include "models/phi4mm/processor/processor.h"
#include "testing/sentencepiece_file.h"
#include "text/prompt_style.h"
#include "text/tokenizer.h"

namespace {

omniphi::ModelConfig config_of(int32_t image_token_id) {
  omniphi::ModelConfig config;
  config.decoder.vocab_size = 400;
  config.image_token_id = image_token_id;
  config.audio_token_id = image_token_id + 1;
  return config;
}

template <typename Function>
void try_it(const Function& function) {
  try {
    function();
  } catch (const omniphi::Error& error) {
    if (error.kind() == omniphi::ErrorKind::kInternal) __builtin_trap();
  }
}

}  // namespace

// The first byte is the number of images; the rest is the prompt, or the ids.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto tokenizer =
      omniphi::Tokenizer::from_json(omniphi::testing::small_sentencepiece_file().dump(), "small");
  if (size == 0) return 0;
  const size_t images = data[0] % 4;
  const std::string_view prompt(reinterpret_cast<const char*>(data) + 1, size - 1);
  try_it([&] {
    const auto ids = omniphi::raw_prompt_ids(omniphi::kPhi3vPrompts, tokenizer, prompt, images);
    int32_t slots = 0;
    for (const int32_t id : ids) {
      if (id < 0 && id != --slots) __builtin_trap();
    }
    if (slots != -static_cast<int32_t>(images)) __builtin_trap();
    omniphi::phi3v::check_slots(config_of(0), ids, images, 0);
  });
  std::vector<int32_t> ids((size - 1) / sizeof(int32_t));
  if (!ids.empty()) std::memcpy(ids.data(), data + 1, ids.size() * sizeof(int32_t));
  try_it([&] { omniphi::phi3v::check_slots(config_of(0), ids, images, 0); });
  try_it([&] { omniphi::phi4mm::check_slots(config_of(10), ids, images, images); });
  return 0;
}

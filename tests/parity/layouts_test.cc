// The same weights give the same bits through either layout of the release.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "runtime/engine.h"
#include "testing/native_layout.h"
#include "testing/temp_folder.h"
#include "testing/tiny_model.h"

namespace omniphi {
namespace {

using testing::TinyModel;

std::vector<float> score(const TinyModel& tiny, const ModelInput& input) {
  Engine engine(tiny.model, tiny.tokenizer, EngineOptions{});
  std::vector<float> values = engine.score(input);
  values[0] = 0;  // there is no log-prob of the first token
  return values;
}

TEST(Layouts, OriginalAndNativeGiveTheSameBits) {
  const testing::TempFolder folder;
  testing::write_native_checkpoint(testing::golden_root() + "/checkpoint", folder.path());
  const TinyModel original, native(folder.path().string());
  ASSERT_EQ(native.checkpoint.layout(), phi4mm::Layout::kNative);
  struct Prompt {
    const char* text;
    std::vector<std::string> images, audios;
  };
  const Prompt prompts[] = {
      {"<|system|>Be brief.<|end|><|user|>Hi there<|end|><|assistant|>", {}, {}},
      {"<|user|><|image_1|>What?<|end|><|assistant|>", {"media/pal200x150.png"}, {}},
      {"<|user|><|audio_1|>What?<|end|><|assistant|>", {}, {"media/stereo16k.wav"}},
      {"<|user|><|image_1|><|audio_1|>What?<|end|><|assistant|>", {"media/tiny100x60.png"}, {"media/tone1s.flac"}},
  };
  for (const Prompt& prompt : prompts) {
    const std::vector<float> expected = score(original, original.raw_input(prompt.text, prompt.images, prompt.audios));
    const std::vector<float> found = score(native, native.raw_input(prompt.text, prompt.images, prompt.audios));
    EXPECT_EQ(found, expected) << prompt.text;
  }
}

}  // namespace
}  // namespace omniphi

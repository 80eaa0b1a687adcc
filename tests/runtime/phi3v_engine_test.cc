// The engine's properties hold for the second family too: its slots have negative ids, its head is its own, its window
// may bind. A token's log-prob has the same bits alone, batched, chunked, generated and scored.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "media/image.h"
#include "models/phi3v/checkpoint/synth.h"
#include "models/phi3v/family.h"
#include "models/phi3v/processor/processor.h"
#include "runtime/engine.h"
#include "testing/temp_folder.h"
#include "text/tokenizer.h"

namespace omniphi {
namespace {

constexpr int kTextIds = 900;  // of tiny-phi3v's vocabulary, below its control tokens

// A random checkpoint of the family, without a window (0) or with one.
struct RandomPhi3v {
  explicit RandomPhi3v(int sliding_window) {
    ModelConfig config = phi3v::preset_config("tiny-phi3v");
    config.decoder.sliding_window = sliding_window;
    SynthFileOptions options;
    options.seed = 3;
    phi3v::synthesize(config, folder.path(), options);
    checkpoint = phi3v::family().open(folder.path(), {});
    model = phi3v::family().bind(*checkpoint);
    tokenizer = std::make_unique<Tokenizer>(Tokenizer::load(folder.path()));
  }
  Engine engine(EngineOptions options = {}) const { return Engine(*model, *tokenizer, options); }

  testing::TempFolder folder;
  std::shared_ptr<const ModelCheckpoint> checkpoint;
  std::unique_ptr<CausalModel> model;
  std::unique_ptr<Tokenizer> tokenizer;
};

const RandomPhi3v& random_model(int sliding_window = 0) {
  static const RandomPhi3v kPlain(0), kWindowed(40);
  return sliding_window == 0 ? kPlain : kWindowed;
}

std::vector<uint32_t> bits(const std::vector<float>& values) {
  std::vector<uint32_t> words(values.size());
  if (!values.empty()) std::memcpy(words.data(), values.data(), sizeof(float) * values.size());
  return words;
}

Image noise(std::mt19937& random, int width, int height) {
  Image image(width, height);
  for (uint8_t& value : image.rgb) value = static_cast<uint8_t>(random());
  return image;
}

// A prompt of `length` text ids with pictures spread over it.
ModelInput random_prompt(std::mt19937& random, size_t length, int pictures) {
  std::vector<int32_t> ids;
  std::vector<ImageInput> images;
  for (size_t i = 0; i < length; ++i) {
    ids.push_back(static_cast<int32_t>(3 + random() % kTextIds));
    if (static_cast<int>(images.size()) < pictures && i % 2 == 1) {
      ids.push_back(-1 - static_cast<int32_t>(images.size()));
      const int width = 20 + static_cast<int>(random() % 100);
      images.push_back(phi3v::process_image(noise(random, width, 50), 1));
    }
  }
  return phi3v::build_input(random_model().checkpoint->config(), ids, std::move(images));
}

GenerationOptions greedy(int64_t max_tokens) {
  GenerationOptions options;
  options.max_tokens = max_tokens;
  options.ignore_eos = true;
  return options;
}

class Phi3vEngine : public ::testing::TestWithParam<int> {};  // the window

TEST_P(Phi3vEngine, AChunkedPrefillHasTheBitsOfAWholeOne) {
  std::mt19937 random(1);
  for (const int pictures : {0, 1, 2}) {
    const ModelInput input = random_prompt(random, 60, pictures);
    const auto expected = bits(random_model(GetParam()).engine({.threads = 1, .prefill_chunk = 1 << 20}).score(input));
    for (const int64_t chunk : {1, 7, 64, 100}) {
      if (chunk == 1 && pictures > 0) continue;  // step by step is covered by the shorter one
      for (const int threads : {1, 2, 3}) {
        Engine engine = random_model(GetParam()).engine({.threads = threads, .prefill_chunk = chunk});
        ASSERT_EQ(bits(engine.score(input)), expected) << "chunk " << chunk << ", threads " << threads;
      }
    }
  }
}

// tiny-phi3v switches its factors at 640 tokens: prompts end on both sides of it and at it.
TEST_P(Phi3vEngine, GeneratedLogProbsAreThoseOfScoring) {
  std::mt19937 random(2);
  for (const auto& [length, pictures] : {std::pair(40u, 1), {13u, 2}, {632u, 0}, {640u, 0}, {641u, 0}}) {
    const ModelInput input = random_prompt(random, length, pictures);
    Engine engine = random_model(GetParam()).engine({.threads = 2, .prefill_chunk = 33});
    const Generation answer = engine.generate(input, greedy(12));
    ASSERT_EQ(answer.token_ids.size(), 12u);
    ModelInput whole = input;
    whole.ids.insert(whole.ids.end(), answer.token_ids.begin(), answer.token_ids.end());
    ScoreOptions options;
    options.as_generated_prompt_tokens = static_cast<int64_t>(input.ids.size());
    const std::vector<float> scored = engine.score(whole, options);
    const auto first = scored.begin() + static_cast<long>(input.ids.size());
    ASSERT_EQ(bits({first, scored.end()}), bits(answer.logprobs)) << length << " ids, " << pictures << " pictures";
  }
}

TEST_P(Phi3vEngine, ARaggedBatchGivesEachAnswerItsOwnBits) {
  std::mt19937 random(3);
  std::vector<ModelInput> inputs;
  for (const auto& [length, pictures] : {std::pair(2u, 1), {1u, 0}, {70u, 0}, {5u, 2}, {636u, 0}, {9u, 1}}) {
    inputs.push_back(random_prompt(random, length, pictures));
  }
  std::vector<const ModelInput*> batch;
  std::vector<GenerationOptions> options;
  std::vector<Generation> alone;
  Engine single = random_model(GetParam()).engine({.threads = 1});
  for (size_t i = 0; i < inputs.size(); ++i) {
    batch.push_back(&inputs[i]);
    options.push_back(greedy(4 + static_cast<int64_t>(i)));
    options.back().sampling.repetition_penalty = 1.1f;  // counts the prompt's ids, slots left out
    alone.push_back(single.generate(inputs[i], options.back()));
  }
  for (const int threads : {1, 2}) {
    Engine engine = random_model(GetParam()).engine({.threads = threads, .prefill_chunk = 90 + threads});
    const std::vector<Generation> together = engine.generate_batch(batch, options);
    for (size_t i = 0; i < inputs.size(); ++i) {
      EXPECT_EQ(together[i].token_ids, alone[i].token_ids) << "prompt " << i;
      EXPECT_EQ(bits(together[i].logprobs), bits(alone[i].logprobs)) << "prompt " << i;
    }
    EXPECT_EQ(engine.kv_blocks_in_use(), 0u);
  }
}

TEST_P(Phi3vEngine, PicturesHaveNoLogProbsAndTheTokenBehindThemHas) {
  std::mt19937 random(4);
  const ModelInput input = random_prompt(random, 20, 2);
  const std::vector<float> scored = random_model(GetParam()).engine().score(input);
  ASSERT_EQ(scored.size(), input.ids.size());
  for (size_t i = 0; i < scored.size(); ++i) {
    EXPECT_EQ(std::isnan(scored[i]), i == 0 || input.ids[i] < 0) << "token " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Windows, Phi3vEngine, ::testing::Values(0, 40));

// A window as long as the prompt hides nothing; a shorter one changes what comes behind it and nothing before.
TEST(Phi3vWindow, HidesKeysFurtherBackThanItself) {
  std::mt19937 random(5);
  const ModelInput input = random_prompt(random, 80, 0);
  const std::vector<float> plain = random_model().engine().score(input);
  const std::vector<float> windowed = random_model(40).engine().score(input);
  // Token t is drawn behind query t - 1, which sees keys from t - 1 - 40 on.
  for (size_t t = 1; t < plain.size(); ++t) {
    if (t > 41) break;
    EXPECT_EQ(plain[t], windowed[t]) << "token " << t;
  }
  EXPECT_NE(bits(plain), bits(windowed));
}

}  // namespace
}  // namespace omniphi

// Properties of the engine that need no oracle: a token's log-prob has the same bits alone, batched, chunked, cached,
// generated and scored.
#include "runtime/engine.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/error.h"
#include "testing/temp_folder.h"
#include "testing/tiny_model.h"

namespace omniphi {
namespace {

using testing::TinyModel;

const TinyModel& tiny_model() {
  static const TinyModel model;
  return model;
}

Engine make_engine(EngineOptions options = {}) { return Engine(tiny_model().model, tiny_model().tokenizer, options); }

std::vector<uint32_t> bits(const std::vector<float>& values) {
  std::vector<uint32_t> words(values.size());
  if (!values.empty()) std::memcpy(words.data(), values.data(), sizeof(float) * values.size());
  return words;
}

// Random text ids: none of a medium.
ModelInput random_text(std::mt19937& random, size_t length) {
  std::uniform_int_distribution<int32_t> id(0, 1533);
  std::vector<int32_t> ids(length);
  for (int32_t& value : ids) value = id(random);
  return phi4mm::build_input(tiny_model().checkpoint.config(), ids, {}, {});
}

// One prompt of every input mode, with media in the middle.
const std::vector<ModelInput>& prompts() {
  static const std::vector<ModelInput> inputs = [] {
    const TinyModel& tiny = tiny_model();
    std::vector<ModelInput> list;
    list.push_back(tiny.raw_input("<|user|>What is the capital of France?<|end|><|assistant|>"));
    list.push_back(
        tiny.raw_input("<|user|>Look: <|image_1|>What is it?<|end|><|assistant|>", {"media/tiny100x60.png"}));
    list.push_back(tiny.raw_input("<|user|>Hear <|audio_1|> now<|end|><|assistant|>", {}, {"media/fox16k.wav"}));
    list.push_back(tiny.raw_input("<|user|>a<|audio_1|>b<|image_1|>c<|end|><|assistant|>", {"media/sq448.png"},
                                  {"media/tone1s.flac"}));
    return list;
  }();
  return inputs;
}

GenerationOptions greedy(int64_t max_tokens) {
  GenerationOptions options;
  options.max_tokens = max_tokens;
  options.ignore_eos = true;
  return options;
}

TEST(Engine, AChunkedPrefillHasTheBitsOfAWholeOne) {
  for (const ModelInput& input : prompts()) {
    Engine whole = make_engine({.threads = 1, .prefill_chunk = 1 << 20});
    const auto expected = bits(whole.score(input));
    for (const int64_t chunk : {1, 7, 64, 100}) {
      if (chunk == 1 && input.ids.size() > 200) continue;  // step by step is covered by the shorter ones
      for (const int threads : {1, 2, 3, 4}) {
        Engine engine = make_engine({.threads = threads, .prefill_chunk = chunk});
        ASSERT_EQ(bits(engine.score(input)), expected) << "chunk " << chunk << ", threads " << threads;
      }
    }
  }
}

TEST(Engine, TheBlockSizeOfTheCacheChangesNoBit) {
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    std::vector<uint32_t> expected;
    for (const int block : {16, 32, 64, 128, 256}) {
      Engine engine = make_engine({.prefill_chunk = 50, .kv_dtype = dtype, .kv_block_tokens = block});
      const auto found = bits(engine.score(prompts()[3]));
      if (expected.empty()) expected = found;
      ASSERT_EQ(found, expected) << "block " << block;
    }
  }
}

TEST(Engine, GeneratedLogProbsAreThoseOfScoring) {
  for (const ModelInput& input : prompts()) {
    Engine engine = make_engine({.threads = 2, .prefill_chunk = 33});
    const Generation answer = engine.generate(input, greedy(12));
    ASSERT_EQ(answer.token_ids.size(), 12u);
    ModelInput whole = input;
    whole.ids.insert(whole.ids.end(), answer.token_ids.begin(), answer.token_ids.end());
    Engine scorer = make_engine({.threads = 1});
    const std::vector<float> scored = scorer.score(whole);
    ASSERT_TRUE(std::isnan(scored[0]));
    ASSERT_EQ(bits({scored.begin() + static_cast<long>(input.ids.size()), scored.end()}), bits(answer.logprobs));
  }
}

// The tiny model switches at 640: tokens drawn behind up to 640 tokens belong to the short regime.
TEST(Engine, ScoringAsGeneratedFollowsTheSwitch) {
  std::mt19937 random(7);
  for (const size_t length : {630u, 639u, 640u, 641u, 700u}) {
    const ModelInput input = random_text(random, length);
    Engine engine = make_engine({.prefill_chunk = 200});
    const Generation answer = engine.generate(input, greedy(16));
    ModelInput whole = input;
    whole.ids.insert(whole.ids.end(), answer.token_ids.begin(), answer.token_ids.end());
    ScoreOptions options;
    options.as_generated_prompt_tokens = static_cast<int64_t>(length);
    const std::vector<float> scored = engine.score(whole, options);
    ASSERT_EQ(bits({scored.begin() + static_cast<long>(length), scored.end()}), bits(answer.logprobs)) << length;
  }
}

TEST(Engine, ALongPromptUsesTheLongFactorsFromItsFirstChunk) {
  std::mt19937 random(8);
  const ModelInput input = random_text(random, 650);
  Engine whole = make_engine({.prefill_chunk = 1000});
  Engine chunked = make_engine({.prefill_chunk = 64});
  EXPECT_EQ(bits(whole.score(input)), bits(chunked.score(input)));
  const Generation a = whole.generate(input, greedy(5));
  const Generation b = chunked.generate(input, greedy(5));
  EXPECT_EQ(a.token_ids, b.token_ids);
  EXPECT_EQ(bits(a.logprobs), bits(b.logprobs));
}

// Random ragged batches with every adapter, block size and thread count: each answer is the one it gets alone.
TEST(Engine, ARaggedBatchGivesEachAnswerItsOwnBits) {
  std::mt19937 random(9);
  std::vector<ModelInput> inputs = prompts();
  for (const size_t length : {1u, 2u, 17u, 255u, 256u, 257u, 600u, 636u}) inputs.push_back(random_text(random, length));
  std::vector<GenerationOptions> options;
  std::vector<Generation> alone;
  Engine single = make_engine({.threads = 1, .prefill_chunk = 1 << 20});
  for (size_t i = 0; i < inputs.size(); ++i) {
    options.push_back(greedy(3 + static_cast<int64_t>(i)));
    if (i % 3 == 1) {
      options.back().sampling.temperature = 0.8f;
      options.back().sampling.top_p = 0.9f;
      options.back().sampling.seed = i;
    }
    alone.push_back(single.generate(inputs[i], options.back()));
  }
  for (const int threads : {1, 2, 3, 4}) {
    std::vector<size_t> order(inputs.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    std::vector<const ModelInput*> batch;
    std::vector<GenerationOptions> batch_options;
    for (const size_t i : order) {
      batch.push_back(&inputs[i]);
      batch_options.push_back(options[i]);
    }
    Engine engine =
        make_engine({.threads = threads, .prefill_chunk = 40 + 61 * threads, .kv_block_tokens = 16 << (threads - 1)});
    const std::vector<Generation> together = engine.generate_batch(batch, batch_options);
    for (size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(together[i].token_ids, alone[order[i]].token_ids) << "prompt " << order[i];
      EXPECT_EQ(bits(together[i].logprobs), bits(alone[order[i]].logprobs)) << "prompt " << order[i];
      EXPECT_EQ(together[i].text, alone[order[i]].text) << "prompt " << order[i];
    }
    EXPECT_EQ(engine.kv_blocks_in_use(), 0u);
  }
}

TEST(Engine, CancellingLeaksNoBlockAndChangesNothingForTheNext) {
  Engine engine = make_engine();
  const Generation before = engine.generate(prompts()[0], greedy(10));
  int events = 0;
  const Generation cancelled =
      engine.generate(prompts()[2], greedy(50), [&](const GenerationEvent&) { return ++events < 4; });
  EXPECT_EQ(cancelled.finish_reason, FinishReason::kCancelled);
  EXPECT_EQ(cancelled.token_ids.size(), 4u);
  EXPECT_EQ(engine.kv_blocks_in_use(), 0u);
  const Generation after = engine.generate(prompts()[0], greedy(10));
  EXPECT_EQ(after.token_ids, before.token_ids);
  EXPECT_EQ(bits(after.logprobs), bits(before.logprobs));
}

TEST(Engine, StopsAtIdsStringsAndLimits) {
  Engine engine = make_engine();
  const Generation free = engine.generate(prompts()[0], greedy(20));
  EXPECT_EQ(free.finish_reason, FinishReason::kLength);
  EXPECT_EQ(free.token_ids.size(), 20u);

  GenerationOptions by_id = greedy(20);
  by_id.stop_token_ids = {free.token_ids[5]};
  const Generation stopped = engine.generate(prompts()[0], by_id);
  EXPECT_EQ(stopped.finish_reason, FinishReason::kStop);
  const auto first = std::find(free.token_ids.begin(), free.token_ids.end(), free.token_ids[5]);
  EXPECT_EQ(stopped.token_ids, std::vector<int32_t>(free.token_ids.begin(), first + 1));

  std::string streamed;
  GenerationOptions by_text = greedy(20);
  by_text.stop_strings = {free.text.substr(free.text.size() / 2, 3)};
  const Generation cut = engine.generate(prompts()[0], by_text, [&](const GenerationEvent& event) {
    streamed += event.text;
    return true;
  });
  EXPECT_EQ(cut.finish_reason, FinishReason::kStop);
  EXPECT_EQ(cut.text, free.text.substr(0, free.text.find(by_text.stop_strings[0])));
  EXPECT_EQ(streamed, cut.text);

  const Generation none = engine.generate(prompts()[0], greedy(0));
  EXPECT_EQ(none.finish_reason, FinishReason::kLength);
  EXPECT_TRUE(none.token_ids.empty());
}

TEST(Engine, TheContextIsALimitBeforeAnyWork) {
  std::mt19937 random(10);
  Engine engine = make_engine();
  const auto limit = static_cast<size_t>(tiny_model().model.context_length());
  const ModelInput too_long = random_text(random, limit + 1);
  try {
    engine.generate(too_long, greedy(1));
    FAIL() << "a prompt beyond the context was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInput);
    EXPECT_EQ(error.found(), std::to_string(limit + 1) + " tokens");
    EXPECT_NE(error.expected().find(std::to_string(limit)), std::string::npos);
  }
  EXPECT_THROW(engine.score(too_long), Error);
  EXPECT_EQ(engine.kv_bytes(), 0u);
}

TEST(Engine, AnAnswerEndsWhenTheContextIsFull) {
  const testing::TempFolder folder;
  std::filesystem::copy(testing::golden_root() + "/checkpoint", folder.path(),
                        std::filesystem::copy_options::recursive);
  nlohmann::json config = testing::read_test_json(testing::golden_root() + "/checkpoint/config.json");
  config["max_position_embeddings"] = 700;
  folder.write("config.json", config.dump());
  const TinyModel small(folder.path().string());
  Engine engine(small.model, small.tokenizer, EngineOptions{});
  std::mt19937 random(11);
  // The last token is drawn from position 699 and is not processed any more.
  EXPECT_EQ(engine.generate(random_text(random, 700), greedy(-1)).token_ids.size(), 1u);
  const Generation answer = engine.generate(random_text(random, 690), greedy(100));
  EXPECT_EQ(answer.token_ids.size(), 11u);
  EXPECT_EQ(answer.finish_reason, FinishReason::kLength);
  EXPECT_THROW(engine.generate(random_text(random, 701), greedy(1)), Error);
}

TEST(Engine, SamplingIsAFunctionOfSeedSampleAndPosition) {
  Engine engine = make_engine();
  GenerationOptions options = greedy(16);
  options.sampling.temperature = 1.5f;
  options.sampling.seed = 42;
  const Generation a = engine.generate(prompts()[0], options);
  const Generation b = engine.generate(prompts()[0], options);
  EXPECT_EQ(a.token_ids, b.token_ids);
  options.sampling.seed = 43;
  EXPECT_NE(engine.generate(prompts()[0], options).token_ids, a.token_ids);
  options.sampling.seed = 42;
  options.sampling.sample = 1;
  EXPECT_NE(engine.generate(prompts()[0], options).token_ids, a.token_ids);
}

TEST(Engine, RefusesOptionsOutOfRange) {
  EXPECT_THROW(make_engine({.threads = -1}), Error);
  EXPECT_THROW(make_engine({.prefill_chunk = 0}), Error);
  EXPECT_THROW(make_engine({.kv_dtype = DType::kF16}), Error);
  EXPECT_THROW(make_engine({.kv_block_tokens = 48}), Error);
  Engine engine = make_engine();
  ScoreOptions options;
  options.as_generated_prompt_tokens = 0;
  EXPECT_THROW(engine.score(prompts()[0], options), Error);
}

TEST(Engine, ABf16CacheStaysNearTheFullOne) {
  Engine full = make_engine();
  Engine rounded = make_engine({.kv_dtype = DType::kBF16});
  for (const ModelInput& input : prompts()) {
    const std::vector<float> a = full.score(input), b = rounded.score(input);
    double total = 0;
    for (size_t i = 1; i < a.size(); ++i) total += std::abs(a[i] - b[i]);
    EXPECT_GT(total, 0);                                         // it is used
    EXPECT_LT(total / static_cast<double>(a.size() - 1), 0.05);  // below what bf16 arithmetic does to the reference
  }
}

}  // namespace
}  // namespace omniphi

// Decoding allocates nothing per token: only a new block of the KV cache, and text that outgrows its string.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "runtime/engine.h"
#include "testing/tiny_model.h"

namespace {

std::atomic<long> allocations{0};

void* counted(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return counted(size); }
void* operator new[](std::size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace omniphi {
namespace {

TEST(Decoding, AllocatesNothingPerToken) {
  const testing::TinyModel tiny;
  const ModelInput input = tiny.raw_input("<|user|><|audio_1|>Say it<|end|><|assistant|>", {}, {"media/tone1s.flac"});
  Engine engine(tiny.model, tiny.tokenizer, EngineOptions{.threads = 2});
  GenerationOptions options;
  options.max_tokens = 200;
  options.ignore_eos = true;
  long seen = 0;
  std::vector<long> per_token;
  per_token.reserve(200);
  engine.generate(input, options, [&](const GenerationEvent&) {
    per_token.push_back(allocations - seen);
    seen = allocations;
    return true;
  });
  ASSERT_EQ(per_token.size(), 200u);
  int steps_that_allocate = 0;
  for (size_t i = 2; i < per_token.size(); ++i) steps_that_allocate += per_token[i] > 0;
  // 200 tokens reach into 4 new blocks of 64, and the answer's text doubles its room about 6 times.
  EXPECT_LE(steps_that_allocate, 12);
}

}  // namespace
}  // namespace omniphi

// Encoders whose queries see whole chunks only, against the reference's outputs.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "models/phi4mm/bind.h"
#include "testing/tiny_model.h"

namespace omniphi {
namespace {

TEST(AudioChunks, EveryVariantOfTheGoldens) {
  const testing::TinyModel tiny;
  const ModelInput input = tiny.raw_input("<|user|><|audio_1|><|end|><|assistant|>", {}, {"media/fox16k.wav"});
  const auto golden =
      testing::read_test_safetensors(testing::golden_root() + "/tables/audio_chunk_variants.safetensors");
  ASSERT_FALSE(golden.empty());
  ThreadPool pool(2);
  Workspace workspace;
  const KernelContext ctx{&kernel_table(choose_isa()), &pool, &workspace};
  int compared = 0;
  for (const auto& [name, tensor] : golden) {
    int chunk = 0, left = 0;
    ASSERT_EQ(std::sscanf(name.c_str(), "encoder_out.chunk%d_%d", &chunk, &left), 2) << name;
    Conformer conformer = phi4mm::bind_conformer(tiny.checkpoint);
    conformer.chunk_size = chunk;
    conformer.left_chunk = left;
    const Tensor& features = input.audios[0].features;
    std::vector<float> output(static_cast<size_t>(input.audios[0].num_tokens * conformer.width));
    conformer.forward(ctx, features.data.data(), features.shape[0], output.data());
    EXPECT_TRUE(testing::compare(name, tensor, output, 2e-5));
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

}  // namespace
}  // namespace omniphi

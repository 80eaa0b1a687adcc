// Checkpoints made from nothing: exactly the release's tensors, accepted by the loader, reproducible.
#include "models/phi4mm/checkpoint/synth.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "io/json.h"
#include "models/checkpoint/synth_values.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "testing/temp_folder.h"

namespace omniphi::phi4mm {
namespace {

namespace fs = std::filesystem;
using omniphi::testing::TempFolder;

// Bytes that a folder takes on disk, holes not counted.
uint64_t disk_bytes(const fs::path& folder) {
  uint64_t total = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    struct stat info {};
    if (entry.is_regular_file() && ::stat(entry.path().c_str(), &info) == 0) {
      total += static_cast<uint64_t>(info.st_blocks) * 512;
    }
  }
  return total;
}

void expect_same_config(const Config& a, const Config& b) {
  EXPECT_EQ(a.decoder.vocab_size, b.decoder.vocab_size);
  EXPECT_EQ(a.decoder.hidden_size, b.decoder.hidden_size);
  EXPECT_EQ(a.decoder.intermediate_size, b.decoder.intermediate_size);
  EXPECT_EQ(a.decoder.num_layers, b.decoder.num_layers);
  EXPECT_EQ(a.decoder.num_heads, b.decoder.num_heads);
  EXPECT_EQ(a.decoder.num_kv_heads, b.decoder.num_kv_heads);
  EXPECT_EQ(a.decoder.head_dim, b.decoder.head_dim);
  EXPECT_EQ(a.decoder.rotary_dim, b.decoder.rotary_dim);
  EXPECT_EQ(a.decoder.rms_norm_eps, b.decoder.rms_norm_eps);
  EXPECT_EQ(a.decoder.rope_theta, b.decoder.rope_theta);
  EXPECT_EQ(a.decoder.original_max_position_embeddings, b.decoder.original_max_position_embeddings);
  EXPECT_EQ(a.decoder.max_position_embeddings, b.decoder.max_position_embeddings);
  EXPECT_EQ(a.decoder.short_factor, b.decoder.short_factor);
  EXPECT_EQ(a.decoder.long_factor, b.decoder.long_factor);
  EXPECT_EQ(a.decoder.vision_lora.rank, b.decoder.vision_lora.rank);
  EXPECT_EQ(a.decoder.vision_lora.alpha, b.decoder.vision_lora.alpha);
  EXPECT_EQ(a.decoder.speech_lora.rank, b.decoder.speech_lora.rank);
  EXPECT_EQ(a.decoder.speech_lora.alpha, b.decoder.speech_lora.alpha);
  EXPECT_EQ(a.vision.hidden_size, b.vision.hidden_size);
  EXPECT_EQ(a.vision.intermediate_size, b.vision.intermediate_size);
  EXPECT_EQ(a.vision.num_layers, b.vision.num_layers);
  EXPECT_EQ(a.vision.num_heads, b.vision.num_heads);
  EXPECT_EQ(a.vision.layer_norm_eps, b.vision.layer_norm_eps);
  EXPECT_EQ(a.vision.max_crops, b.vision.max_crops);
  EXPECT_EQ(a.audio.attention_dim, b.audio.attention_dim);
  EXPECT_EQ(a.audio.num_heads, b.audio.num_heads);
  EXPECT_EQ(a.audio.linear_units, b.audio.linear_units);
  EXPECT_EQ(a.audio.num_blocks, b.audio.num_blocks);
  EXPECT_EQ(a.audio.conv_channels, b.audio.conv_channels);
  EXPECT_EQ(a.audio.kernel_size, b.audio.kernel_size);
  EXPECT_EQ(a.audio.chunk_size, b.audio.chunk_size);
  EXPECT_EQ(a.audio.left_chunk, b.audio.left_chunk);
  EXPECT_EQ(a.audio.bias_reach, b.audio.bias_reach);
  EXPECT_EQ(a.image_token_id, b.image_token_id);
  EXPECT_EQ(a.audio_token_id, b.audio_token_id);
  EXPECT_EQ(a.eos_token_ids, b.eos_token_ids);
}

class SynthLayout : public ::testing::TestWithParam<Layout> {};
INSTANTIATE_TEST_SUITE_P(Both, SynthLayout, ::testing::Values(Layout::kOriginal, Layout::kNative),
                         [](const auto& kind) { return kind.param == Layout::kOriginal ? "Original" : "Native"; });

TEST_P(SynthLayout, TheReleaseAsHolesOpens) {
  const TempFolder folder;
  SynthOptions options;
  options.fill = Fill::kSparse;
  options.layout = GetParam();
  const SynthSummary summary = synthesize(preset_config("phi4mm"), folder / "model", options);
  EXPECT_EQ(summary.tensors, 2047u);
  EXPECT_EQ(summary.parameters, 5'574'460'384);
  EXPECT_EQ(summary.bytes, 2u * 5'574'460'384);
  EXPECT_LT(disk_bytes(folder.path()), 50'000'000u);
  const Checkpoint checkpoint = Checkpoint::open(folder / "model");
  EXPECT_EQ(checkpoint.layout(), GetParam());
  EXPECT_EQ(checkpoint.tensors().size(), 2047u);
  EXPECT_TRUE(checkpoint.warnings().empty()) << checkpoint.warnings()[0];
  EXPECT_TRUE(checkpoint.copied_tensors().empty());
  expect_same_config(checkpoint.config(), preset_config("phi4mm"));
  // What the release's own config.json says is the same.
  fs::copy_file(OMNIPHI_SOURCE_DIR "/tests/data/configs/phi4mm_config.json", folder / "config.json");
  Config released = open_config(folder.path()).config;
  released.eos_token_ids = checkpoint.config().eos_token_ids;  // those of generation_config.json
  expect_same_config(checkpoint.config(), released);
}

TEST_P(SynthLayout, TinyGivesBackItsConfiguration) {
  Config config = preset_config("tiny");
  config.audio.chunk_size = 10;
  config.audio.left_chunk = 2;
  config.audio.kernel_size = 5;
  config.vision.num_layers = 4;
  config.vision.max_crops = 9;
  config.decoder.rms_norm_eps = 3.3e-6f;
  const TempFolder folder;
  SynthOptions options;
  options.layout = GetParam();
  synthesize(config, folder / "model", options);
  const Checkpoint checkpoint = Checkpoint::open(folder / "model");
  EXPECT_TRUE(checkpoint.warnings().empty()) << checkpoint.warnings()[0];
  expect_same_config(checkpoint.config(), config);
}

// Sum of a field of /proc/self/smaps, in bytes, over the mappings whose name contains `name` (all when empty).
uint64_t smaps_bytes(const std::string& field, const std::string& name) {
  std::ifstream in("/proc/self/smaps");
  uint64_t total = 0;
  bool counts = false;
  for (std::string line; std::getline(in, line);) {
    if (line.find('-') < line.find(' ')) {  // "ADDRESS-ADDRESS perms offset device inode name" opens a mapping
      counts = line.find(name) != std::string::npos;
    } else if (counts && line.rfind(field + ":", 0) == 0) {
      total += std::stoull(line.substr(field.size() + 1)) * 1024;
    }
  }
  return total;
}

TEST(Synth, OpeningTheReleaseCopiesNoWeights) {
  const TempFolder folder;
  SynthOptions options;
  options.fill = Fill::kSparse;
  synthesize(preset_config("phi4mm"), folder / "model", options);
  const uint64_t before = smaps_bytes("Anonymous", "");
  const Checkpoint checkpoint = Checkpoint::open(folder / "model");
  const std::string files = folder.path().string();
  EXPECT_GE(smaps_bytes("Size", files), 2u * 5'574'460'384);       // mapped whole,
  EXPECT_LT(smaps_bytes("Rss", files), 100'000'000u);              // hardly read,
  EXPECT_EQ(smaps_bytes("Anonymous", files), 0u);                  // never written,
  EXPECT_LT(smaps_bytes("Anonymous", ""), before + 100'000'000u);  // and copied nowhere.
}

TEST(Synth, TinyIsTheGoldenOnesShape) {
  const Checkpoint golden = Checkpoint::open(OMNIPHI_SOURCE_DIR "/tests/parity/phi4mm/checkpoint");
  expect_same_config(preset_config("tiny"), golden.config());
}

TEST(Synth, ValuesDependOnSeedAndNameOnly) {
  const Config config = preset_config("tiny");
  const TempFolder folder;
  SynthOptions options;
  options.seed = 5;
  options.threads = 1;
  synthesize(config, folder / "a", options);
  options.threads = 4;
  options.layout = Layout::kNative;
  options.max_shard_bytes = 500'000;
  EXPECT_GT(synthesize(config, folder / "b", options).files, 5u);
  options.seed = 6;
  synthesize(config, folder / "c", options);
  const Checkpoint a = Checkpoint::open(folder / "a");
  const Checkpoint b = Checkpoint::open(folder / "b");
  const Checkpoint c = Checkpoint::open(folder / "c");
  for (const TensorInfo& tensor : a.tensors()) {
    const std::string& name = tensor.expected.name;
    ASSERT_EQ(std::memcmp(tensor.view.data, b.tensor(name).data, tensor.view.bytes()), 0) << name;
    ASSERT_NE(std::memcmp(tensor.view.data, c.tensor(name).data, tensor.view.bytes()), 0) << name;
  }
}

TEST(Synth, DtypesRoundTheSameValues) {
  const Config config = preset_config("tiny");
  const TempFolder folder;
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    SynthOptions options;
    options.dtype = dtype;
    synthesize(config, folder / dtype_name(dtype), options);
  }
  const Checkpoint exact = Checkpoint::open(folder / "F32");
  const Checkpoint half = Checkpoint::open(folder / "F16");
  const Checkpoint brain = Checkpoint::open(folder / "BF16");
  for (const TensorInfo& tensor : exact.tensors()) {
    const std::vector<float> values = to_f32(tensor.view);
    const std::vector<float> halves = to_f32(half.tensor(tensor.expected.name));
    const std::vector<float> brains = to_f32(brain.tensor(tensor.expected.name));
    for (size_t i = 0; i < values.size(); i += 97) {
      EXPECT_EQ(halves[i], f16_to_f32(f32_to_f16(values[i])));
      EXPECT_EQ(brains[i], bf16_to_f32(f32_to_bf16(values[i])));
    }
  }
}

TEST(SynthValues, ScatterAsAsked) {
  std::vector<float> values(200'000);
  fill_values(42, {1.0f, 0.25f}, 0, DType::kF32, std::as_writable_bytes(std::span(values)));
  double sum = 0, squares = 0, largest = 0;
  for (const float value : values) {
    sum += value;
    squares += (value - 1.0) * (value - 1.0);
    largest = std::max(largest, std::abs(value - 1.0));
  }
  const double count = static_cast<double>(values.size());
  EXPECT_NEAR(sum / count, 1.0, 4 * 0.25 / std::sqrt(count));
  EXPECT_NEAR(std::sqrt(squares / count), 0.25, 0.003);
  EXPECT_LT(largest, 0.25 * 3.46);
  // Any even start gives the same stream.
  std::vector<float> tail(1001);
  fill_values(42, {1.0f, 0.25f}, 4000, DType::kF32, std::as_writable_bytes(std::span(tail)));
  EXPECT_EQ(std::memcmp(tail.data(), values.data() + 4000, tail.size() * sizeof(float)), 0);
}

TEST(Synth, CopiesATokenizer) {
  const TempFolder folder;
  SynthOptions options;
  options.tokenizer = OMNIPHI_SOURCE_DIR "/tests/parity/phi4mm/checkpoint";
  synthesize(preset_config("tiny"), folder / "model", options);
  EXPECT_EQ(read_file(folder.path() / "model" / "tokenizer.json", 1 << 20, ErrorKind::kInternal),
            read_file(options.tokenizer / "tokenizer.json", 1 << 20, ErrorKind::kInternal));
  EXPECT_NO_THROW(Checkpoint::open(folder / "model"));
}

TEST(Synth, RefusesWhatItCannotDo) {
  const TempFolder folder;
  folder.write("full/x", "y");
  EXPECT_THROW(synthesize(preset_config("tiny"), folder / "full"), Error);
  EXPECT_THROW(preset_config("huge"), Error);
  SynthOptions options;
  options.dtype = DType::kI8;
  EXPECT_THROW(synthesize(preset_config("tiny"), folder / "a", options), Error);
  options = {};
  options.tokenizer = folder / "full";
  EXPECT_THROW(synthesize(preset_config("tiny"), folder / "b", options), Error);
  Config config = preset_config("tiny");
  config.decoder.vocab_size = 1564;
  EXPECT_THROW(synthesize(config, folder / "c"), Error);
  config = preset_config("tiny");
  config.image_token_id = 200;
  EXPECT_THROW(synthesize(config, folder / "d"), Error);
}

}  // namespace
}  // namespace omniphi::phi4mm

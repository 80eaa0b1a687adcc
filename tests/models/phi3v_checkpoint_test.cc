// Opening and making whole folders: the released tensors, the tiny checkpoint of the goldens, and every reason for
// refusal that lies in tensors and files.
#include "models/phi3v/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "base/error.h"
#include "base/file.h"
#include "io/json.h"
#include "io/safetensors_writer.h"
#include "io/shards.h"
#include "models/phi3v/checkpoint/synth.h"
#include "models/phi3v/checkpoint/synth_tokenizer.h"
#include "testing/temp_folder.h"

namespace omniphi::phi3v {
namespace {

namespace fs = std::filesystem;
using omniphi::testing::TempFolder;

const fs::path kTiny = OMNIPHI_SOURCE_DIR "/tests/parity/phi3v/model";
const std::string kTower = "model.vision_embed_tokens.img_processor.vision_model.";

std::string joined(const Shape& shape) {
  std::string text;
  for (const int64_t extent : shape.extents()) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

TEST(Phi3vTensorList, IsTheReleasesListExactly) {
  std::map<std::string, std::string> expected;
  std::ifstream in(OMNIPHI_SOURCE_DIR "/tests/data/configs/phi3_5_vision_tensors.tsv");
  for (std::string name, shape; in >> name >> shape;) expected[name] = shape;
  ASSERT_EQ(expected.size(), 592u);
  int64_t parameters = 0;
  for (const ExpectedTensor& tensor : expected_tensors(preset_config("phi3.5v"))) {
    ASSERT_EQ(expected.count(tensor.name), 1u) << tensor.name;
    EXPECT_EQ(joined(tensor.shape), expected[tensor.name]) << tensor.name;
    expected.erase(tensor.name);
    parameters += tensor.shape.count();
  }
  EXPECT_TRUE(expected.empty()) << expected.begin()->first;
  EXPECT_EQ(parameters, 4'146'621'440);
}

TEST(Phi3vTensorList, MarksWhatNothingReads) {
  for (const ExpectedTensor& tensor : expected_tensors(preset_config("phi3.5v"))) {
    const bool unused =
        tensor.name.starts_with(kTower + "encoder.layers.23.") || tensor.name.starts_with(kTower + "post_layernorm");
    EXPECT_EQ(tensor.used, !unused) << tensor.name;
  }
}

TEST(Phi3vCheckpoint, OpensTheTinyOne) {
  OpenOptions options;
  options.tokenizer = TokenizerCheck::kIfPresent;
  const Checkpoint checkpoint = Checkpoint::open(kTiny, options);
  const Config& config = checkpoint.config();
  EXPECT_EQ(config.decoder.head_dim, 24);
  EXPECT_EQ(config.decoder.short_factor[1], 1.0139);
  EXPECT_EQ(config.vision.hidden_size, 64);
  EXPECT_EQ(config.vision.num_layers, 4);
  EXPECT_EQ(config.vision.max_crops, 4);
  EXPECT_EQ(config.eos_token_ids, (std::vector<int32_t>{32007, 32001, 32000}));
  EXPECT_TRUE(checkpoint.warnings().empty()) << checkpoint.warnings()[0];
  EXPECT_EQ(checkpoint.tensor("lm_head.weight").shape, Shape({32064, 48}));
  EXPECT_EQ(checkpoint.tensor(kTower + "pre_layrnorm.bias").shape, Shape({64}));
}

TEST(Phi3vCheckpoint, NeedsATokenizer) {
  try {
    Checkpoint::open(kTiny);
    FAIL() << "opened without a tokenizer";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    EXPECT_NE(error.where().find("tokenizer.json"), std::string::npos);
  }
}

TEST(Phi3vSynth, TheReleaseAsHolesOpens) {
  const TempFolder folder;
  SynthFileOptions options;
  options.fill = Fill::kSparse;
  const SynthSummary summary = synthesize(preset_config("phi3.5v"), folder.path() / "model", options);
  EXPECT_EQ(summary.tensors, 592u);
  EXPECT_EQ(summary.parameters, 4'146'621'440);
  EXPECT_EQ(summary.bytes, uint64_t{2} * 4'146'621'440);
  EXPECT_EQ(summary.files, 2u);
  const Checkpoint checkpoint = Checkpoint::open(folder.path() / "model");
  EXPECT_EQ(checkpoint.tensors().size(), 592u);
  EXPECT_EQ(checkpoint.files().size(), 2u);
  EXPECT_TRUE(checkpoint.warnings().empty()) << checkpoint.warnings()[0];
  EXPECT_EQ(checkpoint.config().decoder.long_factor, preset_config("phi3.5v").decoder.long_factor);
  EXPECT_EQ(checkpoint.config().vision.num_layers, 24);
  EXPECT_EQ(checkpoint.config().eos_token_ids, (std::vector<int32_t>{32007, 32000}));
}

// A tiny model in a folder of its own that a test may damage.
class Phi3vFolder : public ::testing::Test {
 protected:
  Phi3vFolder() {
    SynthFileOptions options;
    options.threads = 1;
    synthesize(preset_config("tiny-phi3v"), model(), options);
  }
  fs::path model() const { return folder_.path() / "model"; }

  // Writes the weights again after `change` has seen them.
  void rewrite(const std::function<void(std::vector<NamedView>&)>& change) {
    {
      const Shards shards = Shards::open(model());
      std::vector<NamedView> tensors;
      for (const TensorEntry& entry : shards.files()[0].tensors()) {
        tensors.push_back({entry.name, shards.files()[0].view(entry)});
      }
      change(tensors);
      write_safetensors(model() / "new", tensors);
    }
    fs::rename(model() / "new", model() / "model.safetensors");
  }

  void expect_refused(const std::string& where, const std::string& found, const std::string& expected) {
    try {
      Checkpoint::open(model());
      FAIL() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
      EXPECT_EQ(error.where(), where) << error.what();
      EXPECT_NE(error.found().find(found), std::string::npos) << error.what();
      EXPECT_NE(error.expected().find(expected), std::string::npos) << error.what();
    }
  }

  TempFolder folder_;
};

NamedView& named(std::vector<NamedView>& tensors, const std::string& name) {
  for (NamedView& tensor : tensors) {
    if (tensor.name == name) return tensor;
  }
  throw std::runtime_error("no tensor " + name);
}

void remove_if(std::vector<NamedView>& tensors, const std::function<bool(const std::string&)>& unwanted) {
  std::erase_if(tensors, [&](const NamedView& tensor) { return unwanted(tensor.name); });
}

TEST_F(Phi3vFolder, IsReadAsItWasWritten) {
  const Checkpoint checkpoint = Checkpoint::open(model());
  const Config wanted = preset_config("tiny-phi3v");
  const Config& config = checkpoint.config();
  EXPECT_EQ(config.decoder.vocab_size, wanted.decoder.vocab_size);
  EXPECT_EQ(config.decoder.num_heads, wanted.decoder.num_heads);
  EXPECT_EQ(config.decoder.num_kv_heads, wanted.decoder.num_kv_heads);
  EXPECT_EQ(config.decoder.rms_norm_eps, wanted.decoder.rms_norm_eps);
  EXPECT_EQ(config.decoder.short_factor, wanted.decoder.short_factor);
  EXPECT_EQ(config.decoder.max_position_embeddings, wanted.decoder.max_position_embeddings);
  EXPECT_EQ(config.vision.hidden_size, wanted.vision.hidden_size);
  EXPECT_EQ(config.vision.intermediate_size, wanted.vision.intermediate_size);
  EXPECT_EQ(config.vision.num_heads, wanted.vision.num_heads);
  EXPECT_EQ(config.vision.layer_norm_eps, wanted.vision.layer_norm_eps);
  EXPECT_EQ(config.vision.max_crops, wanted.vision.max_crops);
  EXPECT_EQ(config.eos_token_ids, wanted.eos_token_ids);
  EXPECT_TRUE(checkpoint.warnings().empty()) << checkpoint.warnings()[0];
  EXPECT_EQ(open_config(model()).config.decoder.hidden_size, wanted.decoder.hidden_size);
}

TEST_F(Phi3vFolder, ValuesDependOnTheSeedAlone) {
  SynthFileOptions options;
  options.threads = 2;
  options.max_shard_bytes = 200'000;
  synthesize(preset_config("tiny-phi3v"), folder_.path() / "again", options);
  const Checkpoint one = Checkpoint::open(model()), other = Checkpoint::open(folder_.path() / "again");
  EXPECT_GT(other.files().size(), 1u);
  for (const TensorInfo& tensor : one.tensors()) {
    const View a = tensor.view, b = other.tensor(tensor.expected.name);
    ASSERT_EQ(a.bytes(), b.bytes());
    EXPECT_EQ(std::memcmp(a.data, b.data, a.bytes()), 0) << tensor.expected.name;
  }
}

TEST_F(Phi3vFolder, BuffersThatNothingReadsAreIgnored) {
  const std::vector<int64_t> positions(577);
  rewrite([&](std::vector<NamedView>& tensors) {
    View view;
    view.data = reinterpret_cast<const std::byte*>(positions.data());
    view.dtype = DType::kI64;
    view.shape = Shape{1, 577};
    tensors.insert(tensors.begin(), {kTower + "embeddings.position_ids", view});
    tensors.push_back({"model.vision_embed_tokens.wte.weight", named(tensors, "model.embed_tokens.weight").view});
  });
  const Checkpoint checkpoint = Checkpoint::open(model());
  EXPECT_EQ(checkpoint.tensors().size(), expected_tensors(checkpoint.config()).size());
  size_t named_buffers = 0;
  for (const std::string& key : checkpoint.inert_keys())
    named_buffers += key.find("nothing reads") != std::string::npos;
  EXPECT_EQ(named_buffers, 2u);
}

TEST_F(Phi3vFolder, AMissingTensorIsNamed) {
  rewrite([](std::vector<NamedView>& tensors) {
    remove_if(tensors, [](const std::string& name) { return name == "lm_head.weight"; });
  });
  expect_refused("lm_head.weight", "missing", "a tensor [1024, 96]");
}

TEST_F(Phi3vFolder, AnUnknownTensorIsNamed) {
  rewrite([](std::vector<NamedView>& tensors) {
    tensors.push_back({"model.layers.0.self_attn.q_proj.weight", named(tensors, "model.norm.weight").view});
  });
  expect_refused("\"model.layers.0.self_attn.q_proj.weight\"", "an unknown tensor, [96]", "only the tensors");
}

TEST_F(Phi3vFolder, AnotherShapeIsNamed) {
  rewrite([](std::vector<NamedView>& tensors) {
    named(tensors, kTower + "embeddings.position_embedding.weight").view.shape = Shape{64, 577};
  });
  expect_refused(kTower + "embeddings.position_embedding.weight", "shape [64, 577]", "[577, 64]");
}

TEST_F(Phi3vFolder, AnotherTypeIsNamed) {
  rewrite([](std::vector<NamedView>& tensors) {
    NamedView& norm = named(tensors, "model.norm.weight");
    norm.view.dtype = DType::kI16;
  });
  expect_refused("model.norm.weight", "I16", "BF16, F16 or F32");
}

TEST_F(Phi3vFolder, AMissingTowerIsOneReason) {
  rewrite([](std::vector<NamedView>& tensors) {
    remove_if(tensors, [](const std::string& name) { return name.starts_with(kTower); });
  });
  expect_refused("vision tower", "none of its", "the image projector needs its tower");
}

TEST_F(Phi3vFolder, AMissingProjectorIsOneReason) {
  rewrite([](std::vector<NamedView>& tensors) {
    remove_if(tensors, [](const std::string& name) {
      return name.starts_with("model.vision_embed_tokens.") && !name.starts_with(kTower);
    });
  });
  expect_refused("vision projector", "none of its", "the image tower needs its projector");
}

TEST_F(Phi3vFolder, AMisalignedTensorIsCopied) {
  const std::vector<std::byte> odd(1);
  rewrite([&](std::vector<NamedView>& tensors) {
    View view;
    view.data = odd.data();
    view.dtype = DType::kU8;
    view.shape = Shape{1};
    tensors.insert(tensors.begin(), {kTower + "embeddings.position_ids", view});
  });
  const Checkpoint checkpoint = Checkpoint::open(model());
  EXPECT_EQ(checkpoint.copied_tensors().size(), checkpoint.tensors().size());
  EXPECT_EQ(checkpoint.tensor("model.norm.weight").shape, Shape({96}));
}

TEST_F(Phi3vFolder, EveryReasonAtOnce) {
  const std::string text = read_file(model() / "config.json", 1 << 20, ErrorKind::kInternal);
  nlohmann::json config = nlohmann::json::parse(text);
  config["hidden_act"] = "gelu";
  write_file(model() / "config.json", config.dump());
  rewrite([](std::vector<NamedView>& tensors) {
    remove_if(tensors, [](const std::string& name) { return name == "model.norm.weight"; });
  });
  expect_refused(model().string(), "2 reasons to refuse it", "");
}

TEST(Phi3vSynth, RefusesSizesThatItCannotMake) {
  const TempFolder folder;
  Config config = preset_config("tiny-phi3v");
  config.decoder.vocab_size = 400;
  EXPECT_THROW(synthesize(config, folder.path() / "model"), Error);
  EXPECT_THROW(preset_config("phi4mm"), Error);
}

}  // namespace
}  // namespace omniphi::phi3v

// Opening whole folders: both layouts, and every reason for refusal that lies in tensors and files.
#include "models/phi4mm/checkpoint/checkpoint.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "base/file.h"
#include "io/json.h"
#include "io/reasons.h"
#include "io/safetensors_writer.h"
#include "io/shards.h"
#include "models/phi4mm/checkpoint/names.h"
#include "testing/native_layout.h"
#include "testing/temp_folder.h"

namespace omniphi::phi4mm {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using omniphi::testing::NativeOptions;
using omniphi::testing::TempFolder;

const fs::path kTiny = OMNIPHI_SOURCE_DIR "/tests/parity/phi4mm/checkpoint";
const std::string kImage = "model.embed_tokens_extend.image_embed.";

Config released_config() {
  Config config;
  config.decoder.vocab_size = 200064;
  config.decoder.hidden_size = 3072;
  config.decoder.intermediate_size = 8192;
  config.decoder.num_layers = 32;
  config.decoder.num_heads = 24;
  config.decoder.num_kv_heads = 8;
  config.decoder.head_dim = 128;
  config.decoder.vision_lora = {256, 512};
  config.decoder.speech_lora = {320, 640};
  config.vision = {1152, 4304, 27, 16, 448};
  config.audio = {1024, 16, 1536, 24, 1024};
  return config;
}

// NAME, fields..., SHAPE lines of a recorded list.
std::vector<std::vector<std::string>> read_tsv(const std::string& name) {
  std::vector<std::vector<std::string>> rows;
  std::ifstream in(std::string(OMNIPHI_SOURCE_DIR "/tests/data/configs/") + name);
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    std::vector<std::string>& row = rows.emplace_back();
    for (std::string field; fields >> field;) row.push_back(field);
  }
  return rows;
}

std::string joined(const Shape& shape) {
  std::string text;
  for (const int64_t extent : shape.extents()) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

TEST(TensorList, IsTheReleasesListExactly) {
  std::map<std::string, std::string> expected;
  for (const auto& row : read_tsv("phi4mm_tensors.tsv")) expected[row.at(0)] = row.at(1);
  ASSERT_EQ(expected.size(), 2047u);
  int64_t parameters = 0;
  for (const ExpectedTensor& tensor : expected_tensors(released_config())) {
    ASSERT_EQ(expected.count(tensor.name), 1u) << tensor.name;
    EXPECT_EQ(joined(tensor.shape), expected[tensor.name]) << tensor.name;
    expected.erase(tensor.name);
    parameters += tensor.shape.count();
  }
  EXPECT_TRUE(expected.empty()) << expected.begin()->first;
  EXPECT_EQ(parameters, 5'574'460'384);
}

TEST(TensorList, MarksWhatNothingReads) {
  for (const ExpectedTensor& tensor : expected_tensors(released_config())) {
    const std::string& name = tensor.name;
    const bool unused = name.find("img_processor.encoder.layers.26.") != std::string::npos ||
                        name.find("img_processor.post_layernorm") != std::string::npos ||
                        name.find("img_processor.head.") != std::string::npos;
    EXPECT_EQ(tensor.used, !unused) << name;
  }
}

TEST(NativeNames, AreTransformersNames) {
  for (const auto& row : read_tsv("phi4mm_native_tensors.tsv")) {
    const NativeName native = native_name(row.at(0));
    const std::string folder = native.file == NativeFile::kModel ? "model" : adapter_folder(native.file);
    EXPECT_EQ(folder, row.at(1)) << row.at(0);
    EXPECT_EQ((folder == "model" ? "" : "base_model.model.") + native.name, row.at(2)) << row.at(0);
  }
}

TEST(Checkpoint, OpensTheTinyOne) {
  const Checkpoint checkpoint = Checkpoint::open(kTiny);
  const Config& config = checkpoint.config();
  EXPECT_EQ(checkpoint.layout(), Layout::kOriginal);
  EXPECT_EQ(checkpoint.tensors().size(), 269u);
  EXPECT_EQ(config.decoder.rotary_dim, 12);
  EXPECT_EQ(config.decoder.short_factor[1], 1.03);
  EXPECT_EQ(config.decoder.long_factor[5], 25.0);
  EXPECT_EQ(config.decoder.vision_lora.scale(), 2.0f);
  EXPECT_EQ(config.decoder.speech_lora.scale(), 3.0f);
  EXPECT_EQ(config.vision.num_layers, 3);
  EXPECT_EQ(config.vision.num_heads, 2);
  EXPECT_EQ(config.vision.max_crops, 36);
  EXPECT_EQ(config.audio.bias_reach, 500);
  EXPECT_EQ(config.image_token_id, 1546);
  EXPECT_EQ(config.audio_token_id, 1547);
  EXPECT_EQ(config.eos_token_ids, (std::vector<int32_t>{1556, 1535}));
  EXPECT_TRUE(checkpoint.copied_tensors().empty());
  EXPECT_TRUE(checkpoint.warnings().empty()) << checkpoint.warnings()[0];
  EXPECT_FALSE(checkpoint.inert_keys().empty());
  EXPECT_EQ(checkpoint.tensor("model.norm.weight").shape, Shape({96}));
  EXPECT_THROW(checkpoint.tensor("model.norm.bias"), Error);
}

TEST(Checkpoint, ViewsSurviveMoving) {
  Checkpoint first = Checkpoint::open(kTiny);
  const View view = first.tensor("model.norm.weight");
  const float value = view_at(view, 3);
  Checkpoint second = std::move(first);
  EXPECT_EQ(second.tensor("model.norm.weight").data, view.data);
  EXPECT_EQ(view_at(second.tensor("model.norm.weight"), 3), value);
}

void expect_same_weights(const Checkpoint& a, const Checkpoint& b) {
  ASSERT_EQ(a.tensors().size(), b.tensors().size());
  for (const TensorInfo& info : a.tensors()) {
    const View other = b.tensor(info.expected.name);
    ASSERT_EQ(info.view.dtype, other.dtype) << info.expected.name;
    ASSERT_EQ(info.view.shape, other.shape) << info.expected.name;
    EXPECT_EQ(std::memcmp(info.view.data, other.data, other.bytes()), 0) << info.expected.name;
  }
}

void expect_same_config(const Config& a, const Config& b) {
  EXPECT_EQ(a.decoder.vocab_size, b.decoder.vocab_size);
  EXPECT_EQ(a.decoder.num_heads, b.decoder.num_heads);
  EXPECT_EQ(a.decoder.num_kv_heads, b.decoder.num_kv_heads);
  EXPECT_EQ(a.decoder.rotary_dim, b.decoder.rotary_dim);
  EXPECT_EQ(a.decoder.rope_theta, b.decoder.rope_theta);
  EXPECT_EQ(a.decoder.rms_norm_eps, b.decoder.rms_norm_eps);
  EXPECT_EQ(a.decoder.short_factor, b.decoder.short_factor);
  EXPECT_EQ(a.decoder.long_factor, b.decoder.long_factor);
  EXPECT_EQ(a.decoder.original_max_position_embeddings, b.decoder.original_max_position_embeddings);
  EXPECT_EQ(a.decoder.max_position_embeddings, b.decoder.max_position_embeddings);
  EXPECT_EQ(a.decoder.vision_lora.scale(), b.decoder.vision_lora.scale());
  EXPECT_EQ(a.decoder.speech_lora.scale(), b.decoder.speech_lora.scale());
  EXPECT_EQ(a.vision.num_heads, b.vision.num_heads);
  EXPECT_EQ(a.vision.layer_norm_eps, b.vision.layer_norm_eps);
  EXPECT_EQ(a.vision.max_crops, b.vision.max_crops);
  EXPECT_EQ(a.audio.num_heads, b.audio.num_heads);
  EXPECT_EQ(a.audio.bias_reach, b.audio.bias_reach);
  EXPECT_EQ(a.audio.chunk_size, b.audio.chunk_size);
  EXPECT_EQ(a.audio.left_chunk, b.audio.left_chunk);
  EXPECT_EQ(a.image_token_id, b.image_token_id);
  EXPECT_EQ(a.audio_token_id, b.audio_token_id);
  EXPECT_EQ(a.eos_token_ids, b.eos_token_ids);
}

TEST(Checkpoint, NativeLayoutHoldsTheSame) {
  const Checkpoint original = Checkpoint::open(kTiny);
  for (const auto rope : {NativeOptions::Rope::kParameters, NativeOptions::Rope::kScaling}) {
    for (const auto names : {NativeOptions::AdapterNames::kWithPrefix, NativeOptions::AdapterNames::kPlain}) {
      const TempFolder folder;
      omniphi::testing::write_native_checkpoint(kTiny, folder.path(), {rope, names});
      const Checkpoint native = Checkpoint::open(folder.path());
      EXPECT_EQ(native.layout(), Layout::kNative);
      EXPECT_TRUE(native.warnings().empty()) << native.warnings()[0];
      expect_same_config(original.config(), native.config());
      expect_same_weights(original, native);
    }
  }
}

// config.json and adapter_config.json as transformers 5.24 and peft 0.21 wrote them.
TEST(Checkpoint, ConfigurationsThatTheLibrariesWrote) {
  const TempFolder folder;
  omniphi::testing::write_native_checkpoint(kTiny, folder.path());
  const fs::path recorded = OMNIPHI_SOURCE_DIR "/tests/data/phi4mm_native";
  for (const char* name : {"config.json", "vision-lora/adapter_config.json", "speech-lora/adapter_config.json"}) {
    fs::copy_file(recorded / name, folder.path() / name, fs::copy_options::overwrite_existing);
  }
  const Checkpoint native = Checkpoint::open(folder.path());
  EXPECT_TRUE(native.warnings().empty()) << native.warnings()[0];
  expect_same_config(Checkpoint::open(kTiny).config(), native.config());
}

// --- Refusals. Each starts from the tiny checkpoint and breaks one thing. ---

using Tensors = std::map<std::string, View>;

// A copy of the tiny checkpoint whose tensors went through `change`.
class BrokenFolder {
 public:
  explicit BrokenFolder(const std::function<void(Tensors&)>& change) {
    for (const fs::directory_entry& entry : fs::directory_iterator(kTiny)) {
      const std::string name = entry.path().filename().string();
      if (name.find("safetensors") == std::string::npos) fs::copy_file(entry.path(), folder / name);
    }
    const Shards source = Shards::open(kTiny);
    Tensors tensors;
    for (const std::string& name : source.names()) {
      const Shards::Location at = source.find(name);
      tensors[name] = at.file->view(*at.entry);
    }
    change(tensors);
    std::vector<NamedView> list;
    for (const auto& [name, view] : tensors) list.push_back({name, view});
    write_safetensors(folder / "model.safetensors", list);
  }

  TempFolder folder;
};

// The reasons why a folder is refused; none when it opens.
std::vector<Reason> reasons_of(const fs::path& folder) {
  try {
    Checkpoint::open(folder);
  } catch (const RefusedError& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kCheckpoint);
    return error.reasons();
  }
  return {};
}

void expect_only(const std::vector<Reason>& reasons, const Reason& expected) {
  ASSERT_EQ(reasons.size(), 1u);
  EXPECT_EQ(reasons[0].where, expected.where);
  EXPECT_EQ(reasons[0].found, expected.found);
  EXPECT_EQ(reasons[0].expected, expected.expected);
}

TEST(CheckpointRefuses, AMissingTensor) {
  const BrokenFolder broken([](Tensors& t) { t.erase("model.layers.1.mlp.down_proj.lora_B.speech.weight"); });
  expect_only(reasons_of(broken.folder.path()),
              {"model.layers.1.mlp.down_proj.lora_B.speech.weight", "missing", "a tensor [96, 10]", ""});
}

TEST(CheckpointRefuses, AMissingUnusedTensor) {
  const BrokenFolder broken([](Tensors& t) { t.erase(kImage + "img_processor.head.probe"); });
  expect_only(reasons_of(broken.folder.path()),
              {kImage + "img_processor.head.probe", "missing", "a tensor [1, 1, 144]", ""});
}

TEST(CheckpointRefuses, AnUnknownTensor) {
  const BrokenFolder broken([](Tensors& t) { t["model.layers.0.mlp.extra.weight"] = t["model.norm.weight"]; });
  expect_only(reasons_of(broken.folder.path()), {"\"model.layers.0.mlp.extra.weight\"", "an unknown tensor, [96]",
                                                 "only the tensors that the configuration calls for", ""});
}

TEST(CheckpointRefuses, AHeadOfItsOwn) {
  const BrokenFolder broken([](Tensors& t) { t["lm_head.weight"] = t["model.embed_tokens.weight"]; });
  expect_only(reasons_of(broken.folder.path()), {"lm_head.weight", "a head of its own, [1600, 96]",
                                                 "none: the head is tied to model.embed_tokens.weight", ""});
}

TEST(CheckpointRefuses, AMisshapenTensor) {
  const BrokenFolder broken([](Tensors& t) {
    t["model.layers.2.self_attn.o_proj.lora_A.vision.weight"].shape = {96, 8};
  });
  expect_only(reasons_of(broken.folder.path()),
              {"model.layers.2.self_attn.o_proj.lora_A.vision.weight", "shape [96, 8]", "[8, 96]", ""});
}

TEST(CheckpointRefuses, AMisshapenUnusedTensor) {
  const BrokenFolder broken([](Tensors& t) { t[kImage + "img_processor.post_layernorm.bias"].shape = {12, 12}; });
  expect_only(reasons_of(broken.folder.path()),
              {kImage + "img_processor.post_layernorm.bias", "shape [12, 12]", "[144]", ""});
}

TEST(CheckpointRefuses, AnIntegerTensor) {
  const BrokenFolder broken([](Tensors& t) { t["model.norm.weight"].dtype = DType::kI16; });
  expect_only(reasons_of(broken.folder.path()), {"model.norm.weight", "I16", "BF16, F16 or F32", ""});
}

TEST(CheckpointRefuses, ATowerWithoutItsAdapter) {
  const BrokenFolder broken([](Tensors& t) {
    std::erase_if(t, [](const auto& item) {
      return item.first.find("lora_") != std::string::npos && item.first.find(".vision.") != std::string::npos;
    });
  });
  expect_only(reasons_of(broken.folder.path()),
              {"vision LoRA", "none of its 24 tensors", "all of them: the image tower needs its adapter", ""});
}

TEST(CheckpointRefuses, AnAdapterWithoutItsTower) {
  const BrokenFolder broken([](Tensors& t) {
    std::erase_if(t, [](const auto& item) { return item.first.find("audio_embed.encoder.") != std::string::npos; });
  });
  expect_only(reasons_of(broken.folder.path()),
              {"audio encoder", "none of its 123 tensors", "all of them: the speech LoRA needs its tower", ""});
}

TEST(CheckpointRefuses, WithEveryReasonAtOnce) {
  const BrokenFolder broken([](Tensors& t) {
    t.erase("model.norm.weight");
    t["model.layers.0.input_layernorm.weight"].shape = {48, 2};
    t["stray"] = t["model.layers.1.input_layernorm.weight"];
  });
  json config = json::parse(read_file(kTiny / "config.json", 1 << 20, ErrorKind::kInternal));
  config["full_attn_mod"] = 2;
  fs::remove(broken.folder / "config.json");
  broken.folder.write("config.json", config.dump());
  try {
    Checkpoint::open(broken.folder.path());
    FAIL();
  } catch (const RefusedError& error) {
    EXPECT_EQ(error.reasons().size(), 4u);
    const std::string text = error.what();
    for (const char* part : {"full_attn_mod", "model.norm.weight: missing", "[48, 2]", "stray"}) {
      EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
    }
  }
}

TEST(CheckpointRefuses, AFolderThatIsNone) {
  const TempFolder folder;
  EXPECT_EQ(reasons_of(folder / "absent").at(0).found, "not a folder");
  EXPECT_EQ(reasons_of(folder.path()).at(0).where, (folder / "config.json").string());
}

TEST(CheckpointRefuses, AMissingTokenizer) {
  const BrokenFolder broken([](Tensors&) {});
  fs::remove(broken.folder / "tokenizer.json");
  expect_only(reasons_of(broken.folder.path()),
              {(broken.folder / "tokenizer.json").string(), "there is no such file", "the checkpoint's tokenizer", ""});
  EXPECT_NO_THROW(Checkpoint::open(broken.folder.path(), {TokenizerCheck::kIfPresent}));
}

TEST(CheckpointRefuses, ANativeFolderWithoutAnAdapter) {
  const TempFolder folder;
  omniphi::testing::write_native_checkpoint(kTiny, folder.path());
  fs::remove_all(folder / "speech-lora");
  const std::vector<Reason> reasons = reasons_of(folder.path());
  ASSERT_EQ(reasons.size(), 2u);
  EXPECT_EQ(reasons[0].where, "speech-lora/adapter_config.json");
  EXPECT_EQ(reasons[1].where, (folder.path() / "speech-lora" / "adapter_model.safetensors").string());
}

TEST(Checkpoint, CopiesAndNamesMisalignedTensors) {
  const Checkpoint original = Checkpoint::open(kTiny);
  // One odd byte in front of all weights: the file is valid, and every bf16 tensor lies at an odd address.
  std::string bytes = read_file(kTiny / "model.safetensors", 1 << 24, ErrorKind::kInternal);
  const BrokenFolder broken([](Tensors&) {});
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  bytes.insert(8 + length, 1, ' ');
  ++length;
  std::memcpy(bytes.data(), &length, 8);
  broken.folder.write("model.safetensors", bytes);
  const Checkpoint shifted = Checkpoint::open(broken.folder.path());
  EXPECT_EQ(shifted.copied_tensors().size(), shifted.tensors().size());
  EXPECT_EQ(shifted.copied_tensors()[0], "model.embed_tokens.weight");
  for (const TensorInfo& info : shifted.tensors()) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(info.view.data) % 2, 0u);
  }
  expect_same_weights(original, shifted);
}

TEST(Checkpoint, ListsAdapterFoldersThatItDoesNotNeed) {
  const BrokenFolder broken([](Tensors&) {});
  broken.folder.write("vision-lora/adapter_config.json", "{}");
  const Checkpoint checkpoint = Checkpoint::open(broken.folder.path());
  EXPECT_NE(checkpoint.inert_keys().back().find("vision-lora/"), std::string::npos);
}

TEST(Checkpoint, TakesEveryFloatDtype) {
  const Checkpoint original = Checkpoint::open(kTiny);
  std::vector<float> wide = to_f32(original.tensor("model.norm.weight"));
  std::vector<uint16_t> half;
  for (const float value : to_f32(original.tensor("model.layers.0.input_layernorm.weight"))) {
    half.push_back(f32_to_f16(value));
  }
  const BrokenFolder mixed([&](Tensors& t) {
    t["model.norm.weight"] = {wide.data(), DType::kF32, {96}};
    t["model.layers.0.input_layernorm.weight"] = {half.data(), DType::kF16, {96}};
  });
  const Checkpoint checkpoint = Checkpoint::open(mixed.folder.path());
  EXPECT_EQ(checkpoint.tensor("model.norm.weight").dtype, DType::kF32);
  EXPECT_EQ(to_f32(checkpoint.tensor("model.norm.weight")), wide);
  EXPECT_EQ(checkpoint.tensor("model.layers.0.input_layernorm.weight").dtype, DType::kF16);
}

TEST(OpenConfig, NeedsNoWeightsAndNoTokenizer) {
  const TempFolder folder;
  fs::copy_file(OMNIPHI_SOURCE_DIR "/tests/data/configs/phi4mm_config.json", folder / "config.json");
  const ConfigReport report = open_config(folder.path());
  EXPECT_EQ(report.config.vision.num_layers, 27);
  EXPECT_EQ(report.config.vision.num_heads, 16);
  EXPECT_EQ(report.config.image_token_id, 200010);
  EXPECT_EQ(report.config.audio_token_id, 200011);
  EXPECT_EQ(report.config.eos_token_ids, std::vector<int32_t>{199999});
  EXPECT_EQ(report.config.decoder.rotary_dim, 96);
}

}  // namespace
}  // namespace omniphi::phi4mm

// The whole forward path of Phi-3.5-vision against the reference on every instruction set: embeddings, hidden states,
// logits, log-probs and greedy continuations, LongRoPE on both sides of its switch, a sliding window that binds. Pixels
// to projector are phi3v_tower_test's. A failure names the first stage that differs.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.h"
#include "media/image_decode.h"
#include "models/phi3v/family.h"
#include "models/phi3v/processor/processor.h"
#include "runtime/engine.h"
#include "testing/phi3v_golden.h"
#include "testing/sentencepiece_file.h"
#include "testing/temp_folder.h"
#include "testing/trace.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::CollectingTrace;
using testing::compare_phi3v;
using testing::GoldenTensor;
using testing::phi3v_path;
using testing::phi3v_root;
using testing::phi3v_tensor;

// The goldens' README, section 1, for float32.
constexpr double kEmbeddingTolerance = 2e-4;  // rows of pictures come out of the projector
constexpr double kLogitTolerance = 1e-3;

// Its tags stand in another order than its pictures, which omniphi refuses: the reference gives rows to wrong places.
constexpr const char* kRefused = "images_swapped_tags_c4";

struct Run {
  Isa isa;
  std::string name;
};

const json& all_cases() {
  static const json kCases = testing::read_test_json(phi3v_root() + "/cases/cases.json").at("cases");
  return kCases;
}

// The weights of the goldens under one of their three configurations.
struct TinyPhi3v {
  explicit TinyPhi3v(const std::string& config) {
    const std::filesystem::path model = phi3v_root() + "/model";
    std::filesystem::copy_file(model / config, folder.path() / "config.json");
    for (const char* name : {"model.safetensors", "generation_config.json", "preprocessor_config.json"}) {
      std::filesystem::create_symlink(model / name, folder.path() / name);
    }
    checkpoint = phi3v::family().open(folder.path(), OpenOptions{TokenizerCheck::kIfPresent});
    model_ = phi3v::family().bind(*checkpoint);
  }

  Engine engine() const { return Engine(*model_, tokenizer, EngineOptions{}); }

  testing::TempFolder folder;
  std::shared_ptr<const ModelCheckpoint> checkpoint;
  // Of another vocabulary: the cases come with their ids.
  Tokenizer tokenizer = Tokenizer::from_json(testing::small_sentencepiece_file().dump(), "small");

 private:
  std::unique_ptr<CausalModel> model_;
};

const TinyPhi3v& tiny_model(const std::string& config) {
  static std::map<std::string, std::unique_ptr<TinyPhi3v>> models;
  std::unique_ptr<TinyPhi3v>& model = models[config];
  if (!model) model = std::make_unique<TinyPhi3v>(config);
  return *model;
}

std::vector<int32_t> ids_of(const GoldenTensor& tensor) { return {tensor.values.begin(), tensor.values.end()}; }

// The case's pictures, processed as the reference does; *missing names one that the repository doesn't carry.
std::vector<ImageInput> pictures_of(const json& golden, std::string* missing) {
  std::vector<ImageInput> images;
  for (const std::string file : golden.at("images")) {
    const std::string path = phi3v_path("media/" + file);
    if (path.empty()) {
      *missing = file;
      return {};
    }
    ImageOptions options;
    options.reference_media = true;
    const Image decoded = decode_image(testing::read_test_file(path), path, options);
    images.push_back(phi3v::process_image(decoded, golden.at("num_crops"), file));
  }
  return images;
}

class Phi3vParity : public ::testing::TestWithParam<Run> {
 protected:
  void SetUp() override {
    ASSERT_EQ(setenv("OMNIPHI_ISA", isa_name(GetParam().isa), 1), 0);
    case_ = testing::phi3v_case(GetParam().name);
    tensors_ = testing::read_test_safetensors(phi3v_root() + "/cases/" + GetParam().name + ".safetensors");
    std::string missing;
    std::vector<ImageInput> images = pictures_of(case_, &missing);
    if (!missing.empty()) GTEST_SKIP() << missing << " is not part of the repository";
    ids_ = ids_of(tensors_.at("input_ids"));
    input_ = phi3v::build_input(tiny().checkpoint->config(), testing::phi3v_slots(tensors_.at("input_ids")),
                                std::move(images));
  }
  void TearDown() override { unsetenv("OMNIPHI_ISA"); }

  const TinyPhi3v& tiny() const { return tiny_model(case_.at("config")); }

  void check(const std::string& stage, const std::string& traced, double tolerance) {
    if (!case_.at("tensors").contains(stage)) return;
    const json& entry = case_.at("tensors").at(stage);
    ASSERT_TRUE(trace_.stages.count(traced)) << traced << " was not traced";
    ASSERT_TRUE(
        compare_phi3v(stage, phi3v_tensor(tensors_.at(stage), entry), entry, trace_.stages.at(traced), tolerance));
  }

  json case_;
  std::map<std::string, GoldenTensor> tensors_;
  std::vector<int32_t> ids_;
  ModelInput input_;
  CollectingTrace trace_;
};

TEST_P(Phi3vParity, EveryStage) {
  ASSERT_EQ(input_.ids, ids_);
  Engine engine = tiny().engine();
  ASSERT_EQ(engine.isa(), GetParam().isa);
  ScoreOptions options;
  options.trace = &trace_;
  const std::vector<float> logprobs = engine.score(input_, options);

  check("inputs_embeds", "decoder.inputs_embeds", kEmbeddingTolerance);
  const int layers = tiny().checkpoint->config().decoder.num_layers;
  for (int i = 0; i + 1 < layers; ++i) {
    check("hidden_" + std::to_string(i + 1), "decoder.layer" + std::to_string(i), kLogitTolerance);
  }
  check("hidden_" + std::to_string(layers), "decoder.final_norm", kLogitTolerance);
  check("logits_last", "last_logits", kLogitTolerance);

  const std::vector<double>& wanted = tensors_.at("prompt_logprobs").values;
  const std::vector<double>& mask = tensors_.at("prompt_logprob_mask").values;
  ASSERT_EQ(logprobs.size(), wanted.size());
  for (size_t i = 0; i < logprobs.size(); ++i) {
    ASSERT_EQ(std::isnan(logprobs[i]), mask[i] == 0) << "token " << i;
    if (mask[i] != 0) {
      ASSERT_NEAR(logprobs[i], wanted[i], kLogitTolerance) << "token " << i;
    }
  }
}

TEST_P(Phi3vParity, GreedyContinuation) {
  const std::vector<int32_t> expected = ids_of(tensors_.at("greedy_ids"));
  const std::vector<double>& logprobs = tensors_.at("greedy_logprobs").values;
  Engine engine = tiny().engine();
  GenerationOptions options;
  options.ignore_eos = true;
  options.max_tokens = static_cast<int64_t>(expected.size());
  const Generation answer = engine.generate(input_, options);
  ASSERT_EQ(answer.token_ids, expected);  // the smallest margin of the set is 3.4e-3
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(answer.logprobs[i], logprobs[i], kLogitTolerance) << "step " << i;
  }
}

TEST(Phi3vSlots, SwappedTagsAreRefused) {
  const json golden = testing::phi3v_case(kRefused);
  const auto tensors = testing::read_test_safetensors(phi3v_root() + "/cases/" + kRefused + ".safetensors");
  std::string missing;
  std::vector<ImageInput> images = pictures_of(golden, &missing);
  ASSERT_EQ(missing, "");
  EXPECT_THROW(phi3v::build_input(tiny_model(golden.at("config")).checkpoint->config(),
                                  testing::phi3v_slots(tensors.at("input_ids")), std::move(images)),
               Error);
}

// A cache that kept the keys of the short factors would give other ids from the switch on: the goldens hold those too.
TEST(Phi3vLongRope, WithoutRefillTheIdsWouldBeOthers) {
  int crossing = 0;
  for (const json& entry : all_cases()) {
    if (!entry.contains("without_rebuild_ids")) continue;
    const auto tensors =
        testing::read_test_safetensors(phi3v_root() + "/cases/" + std::string(entry.at("name")) + ".safetensors");
    EXPECT_NE(ids_of(tensors.at("greedy_ids")), entry.at("without_rebuild_ids").get<std::vector<int32_t>>());
    ++crossing;
  }
  EXPECT_GE(crossing, 2);
}

std::vector<Run> runs() {
  std::vector<Run> list;
  for (const Isa isa : supported_isas()) {
    for (const json& entry : all_cases()) {
      if (entry.at("name") != kRefused) list.push_back({isa, entry.at("name")});
    }
  }
  return list;
}

std::string run_name(const ::testing::TestParamInfo<Run>& info) {
  return std::string(isa_name(info.param.isa)) + "_" + info.param.name;
}

INSTANTIATE_TEST_SUITE_P(AllCases, Phi3vParity, ::testing::ValuesIn(runs()), run_name);

}  // namespace
}  // namespace omniphi

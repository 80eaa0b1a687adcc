// omniphi process: the tensors that it writes, against the goldens.
#include <gtest/gtest.h>

#include <filesystem>

#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::Golden;
using testing::GoldenTensor;
using testing::run_tiny;

std::map<std::string, GoldenTensor> process(const Golden& golden, json* summary) {
  const testing::TempFolder folder;
  std::vector<std::string> arguments = {"--raw-prompt",
                                        golden.json.at("prompt"),
                                        "--reference-media",
                                        "--json",
                                        "--out",
                                        (folder / "out.safetensors").string()};
  for (const auto& [key, flag] : {std::pair("images", "--image"), std::pair("audios", "--audio")}) {
    for (const json& path : golden.json.at(key)) {
      arguments.insert(arguments.end(), {flag, testing::golden_root() + "/" + path.get<std::string>()});
    }
  }
  *summary = run_tiny("process", arguments).json();
  return testing::read_test_safetensors((folder / "out.safetensors").string());
}

void expect_golden(const Golden& golden) {
  json summary;
  const auto tensors = process(golden, &summary);
  EXPECT_EQ(summary.at("input_mode"), golden.json.at("input_mode"));
  int compared = 0;
  for (const auto& [name, tensor] : tensors) {
    EXPECT_EQ(summary.at("tensors").at(name).at("shape").get<std::vector<int64_t>>(), tensor.shape) << name;
    if (!golden.has(name)) continue;
    EXPECT_EQ(tensor.shape, golden.tensor(name).shape) << name;
    EXPECT_TRUE(testing::compare(golden, name, tensor.values, 2e-5));
    ++compared;
  }
  for (const char* name : {"input_ids", "pixel_values", "image_attention_mask", "image_sizes", "audio_features",
                           "audio_attention_mask", "audio_embed_sizes"}) {
    EXPECT_EQ(golden.has(name), tensors.count(name) == 1) << name;
    compared -= golden.has(name) ? 1 : 0;
  }
  EXPECT_EQ(compared, 0);
}

TEST(Process, TextHasIdsAlone) { expect_golden(Golden::load("t_short")); }

TEST(Process, ImagesArePaddedToTheLargestOfThem) { expect_golden(Golden::load("m_two_images")); }

TEST(Process, ImagesAndAudiosWithTheirMasks) { expect_golden(Golden::load("m_interleaved")); }

TEST(Process, NeedsNoWeights) {
  const testing::TempFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(testing::tiny_checkpoint())) {
    if (entry.path().extension() == ".json") {
      std::filesystem::copy_file(entry.path(), folder / entry.path().filename().string());
    }
  }
  const testing::ProgramResult result = testing::run_program(
      {"process", "--model", folder.path().string(), "Hi", "--out", (folder / "out.safetensors").string()});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("input_ids"), std::string::npos) << result.out;
}

TEST(Process, RefusesWhatMakesNoSense) {
  expect_failure(run_tiny("process", {"Hi"}), 2, {"--out"});
  expect_failure(run_tiny("process", {"--out", "x.safetensors"}), 2, {"nothing to process"});
  expect_failure(run_tiny("process", {"--image", "absent.png", "--out", "x.safetensors"}), 3, {"absent.png"});
}

}  // namespace
}  // namespace omniphi

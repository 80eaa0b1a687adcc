// omniphi plan: the numbers that the released model is held to, and the arithmetic behind the rest.
#include <gtest/gtest.h>

#include "cli/plan/costs.h"
#include "cli/plan/plan.h"
#include "models/phi4mm/checkpoint/synth.h"
#include "models/phi4mm/family.h"
#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::run_program;

json plan(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "plan");
  arguments.push_back("--json");
  return run_program(arguments).json();
}

TEST(Plan, TokensOfImages) {
  const json result = plan({"--image-size", "448x448", "--image-size", "1344x1792", "--image-size", "2688x2688"});
  EXPECT_EQ(result.at("images")[0].at("tokens"), 545);
  EXPECT_EQ(result.at("images")[1].at("tokens"), 3409);
  EXPECT_EQ(result.at("images")[2].at("tokens"), 9585);
  EXPECT_EQ(result.at("max_image_tokens"), 10065);
  EXPECT_EQ(result.at("prompt").at("image_tokens"), 545 + 3409 + 9585);
  EXPECT_EQ(result.at("prompt").at("text_tokens"), 100);
  EXPECT_EQ(result.at("dominant_tokens"), "image");
  EXPECT_EQ(result.at("dominant"), "decoder products");
  EXPECT_DOUBLE_EQ(result.at("prompt").at("media_to_text").get<double>(), (545 + 3409 + 9585) / 100.0);
}

TEST(Plan, NoImageTakesMoreThanTheMost) {
  for (const char* size : {"448x16128", "16128x448", "10000x20", "4000x4000", "300x12000"}) {
    const json result = plan({"--image-size", size});
    for (const json& row : result.at("images")[0].at("sweep")) EXPECT_LE(row.at("tokens").get<int>(), 10065) << size;
  }
  EXPECT_EQ(plan({"--image-size", "448x16128"}).at("images")[0].at("tokens"), 10065);
}

TEST(Plan, ASweepShowsEveryLimitAtWhichTheCutChanges) {
  const json sweep = plan({"--image-size", "1344x1792"}).at("images")[0].at("sweep");
  EXPECT_EQ(sweep.front().at("max_image_crops"), 1);
  EXPECT_EQ(sweep.back().at("tokens"), 3409);
  EXPECT_EQ(sweep.back().at("grid"), json({3, 4}));
  EXPECT_EQ(sweep.back().at("max_image_crops"), 12);
  for (const json& row : sweep) {
    const json chosen =
        plan({"--image-size", "1344x1792", "--max-image-crops", std::to_string(row.at("max_image_crops").get<int>())});
    EXPECT_EQ(chosen.at("images")[0].at("tokens"), row.at("tokens"));
  }
}

TEST(Plan, TokensOfAudio) {
  EXPECT_NEAR(plan({}).at("audio_tokens_per_second").get<double>(), 12.5, 0.01);
  // 30 s: 2,998 windows of 25 ms every 10 ms, eight to a token.
  EXPECT_EQ(plan({"--audio-seconds", "30"}).at("audios")[0].at("tokens"), 375);
}

TEST(Plan, KvBytes) {
  const json result = plan({});
  EXPECT_EQ(result.at("kv").at("bf16").at("bytes_per_token"), 131072);
  EXPECT_EQ(result.at("kv").at("fp32").at("bytes_per_token"), 262144);
  EXPECT_EQ(result.at("context").at("tokens"), 131072);
  EXPECT_EQ(result.at("kv").at("bf16").at("context_bytes"), int64_t{16} << 30);
  EXPECT_EQ(plan({"--context", "4096"}).at("kv").at("bf16").at("context_bytes"), int64_t{131072} * 4096);
  const testing::ProgramResult human = run_program({"plan"});
  EXPECT_EQ(human.exit_code, 0) << human.err;
  EXPECT_NE(human.out.find("16.0 GiB"), std::string::npos) << human.out;
}

TEST(Plan, WeightsAreTheReleasesParameters) {
  const json result = plan({});
  EXPECT_EQ(result.at("weight_bytes").at("total"), 2 * int64_t{5'574'460'384});
}

TEST(Plan, TheLongestContextIsWhatIsLeftOfTheMemory) {
  const json small = plan({"--memory-gib", "16"}), smaller = plan({"--memory-gib", "13"}),
             none = plan({"--memory-gib", "8"});
  const auto longest = [](const json& result, const char* dtype) {
    return result.at("kv").at(dtype).at("longest_context").get<int64_t>();
  };
  EXPECT_EQ(longest(none, "bf16"), 0);
  EXPECT_LT(longest(smaller, "bf16"), longest(small, "bf16"));
  EXPECT_NEAR(static_cast<double>(longest(small, "bf16") - longest(smaller, "bf16")), 3.0 * (1 << 30) / 131072, 1);
  EXPECT_EQ(longest(small, "bf16") / 2, longest(small, "fp32"));
  EXPECT_EQ(longest(plan({"--memory-gib", "256"}), "bf16"), 131072);
}

TEST(Plan, TheSecondFamily) {
  const auto phi3v = [](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--preset", "phi3.5v"});
    return plan(std::move(arguments));
  };
  // 4 crops are the checkpoint's own number; the grids are 1x1, 2x2 and 4x1.
  const json images =
      phi3v({"--image-size", "336x336", "--image-size", "672x672", "--image-size", "400x90"}).at("images");
  const json one_crop = phi3v({"--image-size", "336x336", "--max-image-crops", "1"}).at("images");
  EXPECT_EQ(one_crop[0].at("tokens"), 313);
  EXPECT_EQ(images[1].at("tokens"), 757);
  EXPECT_EQ(images[2].at("tokens"), 757 - 12);  // 4x1: three rows of separators less, beside the same four crops
  EXPECT_EQ(phi3v({"--image-size", "90x400"}).at("images")[0].at("tokens"), 781);
  const json most = phi3v({"--image-size", "336x5376", "--max-image-crops", "16"});
  EXPECT_EQ(most.at("images")[0].at("tokens"), 2653);
  EXPECT_EQ(most.at("max_image_tokens"), 2653);

  const json result = phi3v({"--image-size", "672x672"});
  EXPECT_EQ(result.at("kv").at("bf16").at("bytes_per_token"), 393'216);
  EXPECT_EQ(result.at("kv").at("bf16").at("context_bytes"), int64_t{48} << 30);
  EXPECT_EQ(result.at("kv_to_first_family"), 3.0);
  EXPECT_EQ(result.at("max_image_crops"), 4);
  EXPECT_EQ(result.at("advised_image_crops"), 16);
  EXPECT_FALSE(most.contains("advised_image_crops"));
  EXPECT_FALSE(phi3v({"--image-size", "9x9", "--image-size", "9x9"}).contains("advised_image_crops"));
  double weights = 0;
  for (const auto& [part, bytes] : result.at("weight_bytes").items())
    weights += part == "total" ? 0 : bytes.get<double>();
  EXPECT_EQ(weights, 2.0 * 4'146'621'440);

  const testing::ProgramResult human = run_program({"plan", "--preset", "phi3.5v", "--image-size", "672x672"});
  for (const char* part : {"48.0 GiB", "393216", "--max-image-crops 16", "3.0 times", "a short-context model"}) {
    EXPECT_NE(human.out.find(part), std::string::npos) << part << " in\n" << human.out;
  }
  EXPECT_EQ(run_program({"plan"}).out.find("short-context"), std::string::npos);
  expect_failure(run_program({"plan", "--preset", "phi3.5v", "--max-image-crops", "17"}), 2, {"1 to 16"});
  expect_failure(run_program({"plan", "--preset", "phi3.5v", "--audio-seconds", "3"}), 3,
                 {"Phi-3.5-vision can't hear"});
}

TEST(Plan, FamiliesStandSideBySide) {
  const json plans =
      plan({"--preset", "phi4mm", "--preset", "phi3.5v", "--image-size", "1344x1792", "--memory-gib", "16"})
          .at("plans");
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0], plan({"--image-size", "1344x1792", "--memory-gib", "16"}));
  EXPECT_EQ(plans[1].at("family"), "Phi-3.5-vision");
  const testing::ProgramResult human =
      run_program({"plan", "--preset", "phi4mm", "--preset", "phi3.5v", "--image-size", "1344x1792"});
  ASSERT_EQ(human.exit_code, 0) << human.err;
  for (const char* part : {"preset phi4mm  preset phi3.5v", "3409", "131072 B", "393216 B", "16.0 GiB", "48.0 GiB"}) {
    EXPECT_NE(human.out.find(part), std::string::npos) << part << " in\n" << human.out;
  }
}

TEST(Plan, WorkIsCountedFromTheShapes) {
  // One decoder product per parameter: 2 FLOP for each of the four projections' weights and each token, whatever the
  // part names are; counted here from the tensor list instead of from the sizes.
  const phi4mm::Config config = phi4mm::preset_config("phi4mm");
  double projections = 0;
  for (const ExpectedTensor& tensor : phi4mm::expected_tensors(config)) {
    if (tensor.part == Part::kDecoder && tensor.name.find("_proj") != std::string::npos) {
      projections += static_cast<double>(tensor.shape.count());
    }
  }
  cli::PlanRequest request;
  request.text_tokens = 1000;
  const cli::Plan result = cli::make_plan(phi4mm::family(), config, request);
  double products = 0, lora = 0, tower = 0;
  for (const auto& [name, flops] : result.prefill_flops) {
    if (name == "decoder products") products = flops;
    if (name == "decoder LoRA") lora = flops;
    if (name == "vision tower") tower = flops;
  }
  EXPECT_DOUBLE_EQ(products, 2 * 1000 * projections);
  EXPECT_EQ(lora, 0);
  EXPECT_EQ(tower, 0);
  EXPECT_EQ(cli::largest(result.prefill_flops), "decoder products");
}

TEST(Plan, TowerWorkGrowsWithItsCrops) {
  const auto tower = [](const std::string& size) {
    return plan({"--image-size", size}).at("prefill_flops").at("vision tower").get<double>();
  };
  EXPECT_NEAR(tower("2688x2688") / tower("448x448"), 37.0 / 2.0, 1e-6);
  EXPECT_EQ(plan({"--image-size", "2688x2688", "--text-tokens", "10"}).at("prompt").at("long_rope"), true);
}

TEST(Plan, ReadsOnlyTheConfigurationOfAModel) {
  const testing::TempFolder folder;
  for (const char* name : {"config.json", "preprocessor_config.json", "generation_config.json"}) {
    folder.write(name, testing::read_test_file(testing::tiny_checkpoint() + "/" + name));
  }
  const json result =
      plan({"--model", folder.path().string(), "--image", testing::golden_root() + "/media/tiny100x60.png", "--audio",
            testing::golden_root() + "/media/tone1s.flac"});
  EXPECT_EQ(result.at("images")[0].at("width"), 100);
  EXPECT_EQ(result.at("images")[0].at("height"), 60);
  EXPECT_EQ(result.at("audios")[0].at("tokens"), 13);
  EXPECT_EQ(result.at("kv").at("fp32").at("bytes_per_token"), 3 * 2 * 2 * 16 * 4);
  EXPECT_EQ(result.at("context").at("limit"), 20480);
}

TEST(Plan, RefusesWhatMakesNoSense) {
  expect_failure(run_program({"plan", "--image-size", "448"}), 2, {"--image-size", "448"});
  expect_failure(run_program({"plan", "--image-size", "0x5"}), 2, {"--image-size"});
  expect_failure(run_program({"plan", "--image-size", "10000x1"}), 3, {"10000x1"});
  expect_failure(run_program({"plan", "--audio-seconds", "-1"}), 2, {"--audio-seconds"});
  expect_failure(run_program({"plan", "--max-image-crops", "40"}), 2, {"--max-image-crops", "1 to 36"});
  expect_failure(run_program({"plan", "--context", "131073"}), 2, {"--context", "131072"});
  expect_failure(run_program({"plan", "--text-tokens", "-1"}), 2, {"--text-tokens"});
  expect_failure(run_program({"plan", "--preset", "gpt"}), 2, {"gpt"});
  expect_failure(run_program({"plan", "--image", "absent.png"}), 3, {"absent.png"});
}

}  // namespace
}  // namespace omniphi

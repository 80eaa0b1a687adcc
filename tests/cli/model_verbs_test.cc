// omniphi synth, inspect and bench, from the outside.
#include <gtest/gtest.h>

#include <filesystem>

#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::run_program;
using testing::run_tiny;

TEST(Synth, WritesACheckpointThatEveryVerbAccepts) {
  const testing::TempFolder folder;
  for (const std::string layout : {"original", "native"}) {
    const std::string out = (folder / layout).string();
    const json summary =
        run_program({"synth", "--preset", "tiny", "--layout", layout, "--seed", "5", "--out", out, "--json"}).json();
    const json found = run_program({"inspect", out, "--json"}).json();
    EXPECT_TRUE(found.at("accepted").get<bool>());
    EXPECT_EQ(found.at("total").at("tensors"), summary.at("tensors"));
    EXPECT_EQ(found.at("total").at("parameters"), summary.at("parameters"));
    EXPECT_NE(found.at("layout").get<std::string>().find(layout), std::string::npos) << found.at("layout");
  }
  const auto answer = [&](const char* layout) {
    return run_program(
               {"run", "--model", (folder / layout).string(), "hi", "--max-tokens", "8", "--ignore-eos", "--json"})
        .json();
  };
  // The same seed is the same weights, and the same weights give the same numbers through either layout.
  EXPECT_EQ(answer("original").at("logprobs"), answer("native").at("logprobs"));
}

TEST(Synth, SparseReleaseHasTheReleasesTensors) {
  const testing::TempFolder folder;
  const std::string out = (folder / "shapes").string();
  const json summary = run_program({"synth", "--preset", "phi4mm", "--sparse", "--out", out, "--json"}).json();
  EXPECT_EQ(summary.at("tensors"), 2047);
  EXPECT_EQ(summary.at("parameters"), int64_t{5'574'460'384});
  const json found = run_program({"inspect", "--model", out, "--json"}).json();
  EXPECT_EQ(found.at("total").at("parameters"), int64_t{5'574'460'384});
  EXPECT_EQ(found.at("special_ids").at("image"), 200010);
  EXPECT_EQ(found.at("limits").at("context"), 131072);
}

TEST(Synth, RefusesWhatMakesNoSense) {
  const testing::TempFolder folder;
  folder.write("something", "here");
  const std::string full = folder.path().string(), fresh = (folder / "new").string();
  expect_failure(run_program({"synth", "--out", full}), 2, {full});
  expect_failure(run_program({"synth"}), 2, {"--out"});
  expect_failure(run_program({"synth", "--preset", "gpt", "--out", fresh}), 2, {"gpt"});
  expect_failure(run_program({"synth", "--dtype", "int4", "--out", fresh}), 2, {"--dtype"});
  expect_failure(run_program({"synth", "--layout", "gguf", "--out", fresh}), 2, {"--layout"});
  expect_failure(run_program({"synth", "--seed", "-1", "--out", fresh}), 2, {"--seed"});
  EXPECT_FALSE(std::filesystem::exists(fresh));
}

TEST(Inspect, PrintsPartsIdsAndLimits) {
  const testing::ProgramResult result = run_tiny("inspect", {});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  for (const char* part : {"decoder", "vision", "audio", "total", "BF16", "image 1546", "audio 1547", "20480"}) {
    EXPECT_NE(result.out.find(part), std::string::npos) << part << "\n" << result.out;
  }
}

TEST(Inspect, PrintsEveryReasonOfARefusal) {
  const testing::TempFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(testing::tiny_checkpoint())) {
    std::filesystem::copy_file(entry.path(), folder / entry.path().filename().string());
  }
  json config = testing::read_test_json(testing::tiny_checkpoint() + "/config.json");
  config["hidden_act"] = "relu";
  config["rope_scaling"]["type"] = "yarn2";
  std::filesystem::remove(folder / "config.json");
  folder.write("config.json", config.dump());
  const testing::ProgramResult human = run_program({"inspect", "--model", folder.path().string()});
  expect_failure(human, 4, {"hidden_act", "relu", "silu", "rope_scaling", "yarn2", "longrope"});
  const testing::ProgramResult machine = run_program({"inspect", "--model", folder.path().string(), "--json"});
  EXPECT_EQ(machine.exit_code, 4);
  const json refusal = json::parse(machine.out);
  EXPECT_FALSE(refusal.at("accepted").get<bool>());
  EXPECT_GE(refusal.at("reasons").size(), 2u);
  for (const json& reason : refusal.at("reasons")) {
    for (const char* key : {"where", "found", "expected", "remedy"}) EXPECT_TRUE(reason.contains(key)) << reason;
  }
}

TEST(Bench, MeasuresTheModelAndTheMachineInOneRun) {
  const json result =
      run_tiny("bench", {"--prompt-tokens", "32", "--answer-tokens", "4", "--repeat", "1", "--threads", "1", "--json"})
          .json();
  for (const char* key :
       {"prefill_tokens_per_second", "decode_tokens_per_second", "prefill_flops_per_second", "machine_fma_peak",
        "prefill_of_peak", "decode_bytes_per_second", "machine_read_bandwidth", "decode_of_bandwidth"}) {
    EXPECT_GT(result.at(key).get<double>(), 0) << key;
  }
  EXPECT_EQ(result.at("threads"), 1);
  expect_failure(run_tiny("bench", {"--repeat", "0"}), 2, {"--repeat"});
  expect_failure(run_tiny("bench", {"--prompt-tokens", "1"}), 2, {"--prompt-tokens"});
}

}  // namespace
}  // namespace omniphi

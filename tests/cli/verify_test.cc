// omniphi verify: agrees with the goldens, and finds what was changed in them.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::golden_root;
using testing::run_tiny;
using testing::TempFolder;

std::string case_file(const std::string& name) { return golden_root() + "/cases/" + name + ".json"; }

TEST(Verify, AgreesWithTheReferenceInEveryMode) {
  const json result = run_tiny("verify", {case_file("t_short"), case_file("m_two_images"), case_file("a_16k"),
                                          case_file("m_image_audio"), "--json"})
                          .json();
  EXPECT_TRUE(result.at("agrees").get<bool>()) << result;
  ASSERT_EQ(result.at("dumps").size(), 4u);
  const char* modes[] = {"language", "vision", "speech", "vision_speech"};
  for (size_t i = 0; i < 4; ++i) {
    const json& dump = result.at("dumps")[i];
    EXPECT_EQ(dump.at("input_mode"), modes[i]);
    EXPECT_TRUE(dump.at("first_difference").is_null()) << dump;
    EXPECT_GE(dump.at("stages").size(), 11u);
    EXPECT_EQ(dump.at("stages").front().at("stage"), "prompt_ids_unexpanded");
    EXPECT_EQ(dump.at("stages").back().at("stage"), "generated_logprobs");
  }
}

TEST(Verify, LeavesOutWhatTheReferencePadded) {
  const testing::ProgramResult result = run_tiny("verify", {case_file("m_two_audios")});
  EXPECT_EQ(result.exit_code, 0) << result.out;
  EXPECT_NE(result.out.find("left out"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("decoder.layer0"), std::string::npos) << result.out;
}

// A copy of a golden case that can be damaged.
struct DamagedCase {
  explicit DamagedCase(const std::string& case_name) : name(case_name) {
    document = testing::read_test_json(case_file(case_name));
    tensors = testing::read_test_file(golden_root() + "/cases/" + case_name + ".safetensors");
    for (const char* key : {"images", "audios"}) {
      for (json& path : document[key]) path = golden_root() + "/" + path.get<std::string>();
    }
  }

  // Adds to the stored float number `index` of a stage.
  void add(const std::string& stage, size_t index, float amount) {
    uint64_t header = 0;
    std::memcpy(&header, tensors.data(), 8);
    const json entries = json::parse(tensors.substr(8, header));
    char* at = tensors.data() + 8 + header + entries.at(stage).at("data_offsets")[0].get<size_t>() + index * 4;
    float value;
    std::memcpy(&value, at, 4);
    value += amount;
    std::memcpy(at, &value, 4);
  }

  testing::ProgramResult verify(bool as_json) {
    folder.write(name + ".json", document.dump());
    folder.write(name + ".safetensors", tensors);
    std::vector<std::string> arguments = {(folder / (name + ".json")).string()};
    if (as_json) arguments.push_back("--json");
    return run_tiny("verify", arguments);
  }

  std::string name;
  json document;
  std::string tensors;
  TempFolder folder;
};

TEST(Verify, NamesTheFirstStageThatDiffersWithItsWorstValue) {
  DamagedCase damaged("i_tiny");
  damaged.add("decoder.layer1", 3, 1.0f);
  damaged.add("vision.layer1", 5, 0.25f);
  damaged.add("vision.layer1", 7, 0.5f);
  damaged.add("logprobs", 2, 1.0f);
  const testing::ProgramResult result = damaged.verify(true);
  EXPECT_EQ(result.exit_code, 1) << result.err;
  const json found = json::parse(result.out);
  EXPECT_FALSE(found.at("agrees").get<bool>());
  const json& dump = found.at("dumps")[0];
  EXPECT_EQ(dump.at("first_difference"), "vision.layer1");
  for (const json& stage : dump.at("stages")) {
    const std::string& name = stage.at("stage").get_ref<const std::string&>();
    const bool touched = name == "vision.layer1" || name == "decoder.layer1" || name == "logprobs";
    EXPECT_EQ(stage.at("agrees").get<bool>(), !touched) << stage;
    if (name != "vision.layer1") continue;
    EXPECT_NEAR(stage.at("worst_difference").get<double>(), 0.5, 1e-4);
    EXPECT_EQ(stage.at("index"), 7 * damaged.document["tensors"]["vision.layer1"]["stride"].get<int>());
  }
  const testing::ProgramResult human = damaged.verify(false);
  EXPECT_EQ(human.exit_code, 1);
  EXPECT_NE(human.out.find("the first stage that differs: vision.layer1"), std::string::npos) << human.out;
}

TEST(Verify, SeesWhatASampleLeavesOut) {
  DamagedCase damaged("i_tiny");
  json& stats = damaged.document["tensors"]["vision.pooled"]["stats"];
  stats["l2"] = stats["l2"].get<double>() * 1.01;
  const testing::ProgramResult result = damaged.verify(false);
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_NE(result.out.find("the first stage that differs: vision.pooled"), std::string::npos) << result.out;
}

TEST(Verify, SeesOtherIdsAndMissingStages) {
  DamagedCase ids("t_short");
  ids.document["generated_ids"][1] = 7;
  EXPECT_NE(ids.verify(false).out.find("differs: generated_ids"), std::string::npos);
  DamagedCase stages("t_short");
  stages.document["tensors"]["decoder.layer7"] = stages.document["tensors"]["decoder.layer1"];
  size_t at = stages.tensors.find("\"decoder.layer1\"");
  stages.tensors.replace(at, 16, "\"decoder.layer7\"");
  stages.document["tensors"].erase("decoder.layer1");
  EXPECT_NE(stages.verify(false).out.find("differs: decoder.layer7"), std::string::npos) << stages.verify(false).out;
}

TEST(Verify, ATieIsNoDifference) {
  DamagedCase tie("t_short");
  tie.document["generated_ids"][3] = 7;
  tie.document["generated_margins"][3] = 1e-4;
  EXPECT_EQ(tie.verify(false).exit_code, 0) << tie.verify(false).out;
}

TEST(Verify, RefusesBrokenDumps) {
  DamagedCase no_prompt("t_short");
  no_prompt.document.erase("prompt");
  expect_failure(no_prompt.verify(false), 3, {"t_short.json", "prompt"});
  DamagedCase shape("t_short");
  shape.document["tensors"]["logprobs"]["shape"] = {3};
  expect_failure(shape.verify(false), 3, {"logprobs", "16 values"});
  expect_failure(run_tiny("verify", {"absent.json"}), 3, {"absent.json"});
  expect_failure(run_tiny("verify", {}), 2, {"--dump"});
}

}  // namespace
}  // namespace omniphi

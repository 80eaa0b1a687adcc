// omniphi score, from the outside.
#include <gtest/gtest.h>

#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::Golden;
using testing::golden_root;
using testing::run_tiny;
using testing::TempFolder;

void expect_golden_scores(const json& score, const Golden& golden) {
  const auto& ids = golden.tensor("input_ids").values;
  const auto& logprobs = golden.tensor("logprobs").values;
  ASSERT_EQ(score.at("token_ids").size(), ids.size());
  ASSERT_EQ(score.at("logprobs").size(), ids.size());
  EXPECT_TRUE(score.at("logprobs")[0].is_null());
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(score.at("token_ids")[i].get<double>(), ids[i]);
    if (i == 0) continue;
    EXPECT_NEAR(score.at("logprobs")[i].get<double>(), logprobs[i - 1], 1e-3) << "token " << i;
  }
  EXPECT_EQ(score.at("input_mode"), golden.json.at("input_mode"));
  EXPECT_EQ(score.size(), 3u);
}

TEST(Score, EqualsTheReferenceForText) {
  const Golden golden = Golden::load("t_system");
  expect_golden_scores(run_tiny("score", {"--raw-prompt", golden.json.at("prompt"), "--json"}).json(), golden);
  // The same conversation as messages.
  const TempFolder folder;
  folder.write(
      "chat.json",
      json::array({{{"role", "system"}, {"content", "You are a helpful assistant."}},
                   {{"role", "user"}, {"content", "Don't write more than 2 lines, please.\n\nName three colours: a)"}},
                   {{"role", "assistant"}, {"content", "Red, green, blue."}},
                   {{"role", "user"}, {"content", "And  a fourth?"}}})
          .dump());
  expect_golden_scores(run_tiny("score", {"--messages", (folder / "chat.json").string(), "--json"}).json(), golden);
}

TEST(Score, EqualsTheReferenceForMedia) {
  const Golden golden = Golden::load("m_image_audio");
  const TempFolder folder;
  folder.write("ids.json", golden.json.at("prompt_ids_unexpanded").dump());
  expect_golden_scores(run_tiny("score", {"--token-ids", (folder / "ids.json").string(), "--image",
                                          golden_root() + "/media/tiny100x60.png", "--audio",
                                          golden_root() + "/media/fox16k.wav", "--json"})
                           .json(),
                       golden);
}

TEST(Score, IsBitwiseTheSameForEveryChunkAndThreadCount) {
  const Golden golden = Golden::load("t_system");
  const auto score = [&](const std::string& chunk, const std::string& threads) {
    return run_tiny("score", {"--raw-prompt", golden.json.at("prompt"), "--json", "--prefill-chunk", chunk, "--threads",
                              threads})
        .json();
  };
  const json whole = score("512", "1");
  EXPECT_EQ(score("1", "1"), whole);
  EXPECT_EQ(score("7", "2"), whole);
  EXPECT_EQ(score("64", "4"), whole);
}

TEST(Score, AsGeneratedGivesWhatRunSaid) {
  // Crosses LongRoPE's switch at 640 tokens while it generates.
  const Golden golden = Golden::load("t_cross_decode");
  const TempFolder folder;
  folder.write("prompt.json", golden.json.at("prompt_ids_unexpanded").dump());
  const json answer = run_tiny("run", {"--token-ids", (folder / "prompt.json").string(), "--max-tokens", "14",
                                       "--ignore-eos", "--json"})
                          .json();
  json all = golden.json.at("prompt_ids_unexpanded");
  const size_t prompt = all.size();
  for (const json& id : answer.at("token_ids")) all.push_back(id);
  folder.write("all.json", all.dump());
  const json score = run_tiny("score", {"--token-ids", (folder / "all.json").string(), "--as-generated",
                                        "--prompt-tokens", std::to_string(prompt), "--json"})
                         .json();
  for (size_t i = 0; i < answer.at("logprobs").size(); ++i) {
    EXPECT_EQ(score.at("logprobs")[prompt + i], answer.at("logprobs")[i]) << "token " << i;
  }
}

TEST(Score, AnAnswerAtTheEndIsClosedInsteadOfContinued) {
  const TempFolder folder;
  folder.write("chat.json", R"([{"role": "user", "content": "U"}, {"role": "assistant", "content": "A"}])");
  const json score = run_tiny("score", {"--messages", (folder / "chat.json").string(), "--json"}).json();
  EXPECT_EQ(score.at("token_ids").back(), 1535);  // <|endoftext|>
}

TEST(Score, TheTableHasARowForEveryToken) {
  const testing::ProgramResult result = run_tiny("score", {"Hi"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("<|user|>"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("perplexity"), std::string::npos) << result.out;
}

TEST(Score, RefusesFlagsOfGenerationByName) {
  const std::vector<std::vector<std::string>> flags = {{"--max-tokens", "5"},
                                                       {"--temperature", "0.5"},
                                                       {"--top-k", "3"},
                                                       {"--top-p", "0.5"},
                                                       {"--min-p", "0.1"},
                                                       {"--repetition-penalty", "1.1"},
                                                       {"--presence-penalty", "1"},
                                                       {"--frequency-penalty", "1"},
                                                       {"--logit-bias", "5=1"},
                                                       {"--seed", "1"},
                                                       {"--stop", "x"},
                                                       {"--stop-token-id", "5"},
                                                       {"--ignore-eos"},
                                                       {"--no-stream"}};
  for (const std::vector<std::string>& flag : flags) {
    std::vector<std::string> arguments = {"Hi"};
    arguments.insert(arguments.end(), flag.begin(), flag.end());
    expect_failure(run_tiny("score", arguments), 2, {flag[0], "generates nothing"});
  }
}

TEST(Score, RefusesWhatMakesNoSense) {
  expect_failure(run_tiny("score", {}), 2, {"nothing to score"});
  expect_failure(run_tiny("score", {"Hi", "--as-generated"}), 2, {"--prompt-tokens"});
  expect_failure(run_tiny("score", {"Hi", "--prompt-tokens", "2"}), 2, {"--as-generated"});
  expect_failure(run_tiny("score", {"Hi", "--as-generated", "--prompt-tokens", "500"}), 3, {"--prompt-tokens"});
}

}  // namespace
}  // namespace omniphi

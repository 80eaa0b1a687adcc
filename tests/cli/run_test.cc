// omniphi run, from the outside.
#include <gtest/gtest.h>

#include <cmath>

#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::Golden;
using testing::golden_root;
using testing::run_tiny;
using testing::TempFolder;

std::string media(const std::string& name) { return golden_root() + "/media/" + name; }

// Greedy ids of a golden case up to the first step that float32 may decide otherwise.
void expect_golden_ids(const json& answer, const Golden& golden, size_t steps) {
  const auto ids = golden.json.at("generated_ids").get<std::vector<int>>();
  const auto margins = golden.json.at("generated_margins").get<std::vector<double>>();
  const auto logprobs = golden.json.at("generated_logprobs").get<std::vector<double>>();
  const auto found = answer.at("token_ids").get<std::vector<int>>();
  ASSERT_EQ(found.size(), steps);
  for (size_t i = 0; i < steps && margins[i] > 2e-3; ++i) {
    EXPECT_EQ(found[i], ids[i]) << "step " << i;
    EXPECT_NEAR(answer.at("logprobs")[i].get<double>(), logprobs[i], 1e-3) << "step " << i;
  }
}

std::vector<int> prompt_ids(const Golden& golden) {
  std::vector<int> ids;
  for (const double id : golden.tensor("input_ids").values) ids.push_back(static_cast<int>(id));
  return ids;
}

TEST(Run, JsonHasEveryFieldAndTheReferencesNumbers) {
  const Golden golden = Golden::load("t_short");
  const json answer =
      run_tiny("run", {"--raw-prompt", golden.json.at("prompt"), "--ignore-eos", "--max-tokens", "12", "--json"})
          .json();
  expect_golden_ids(answer, golden, 12);
  EXPECT_EQ(answer.at("prompt_token_ids").get<std::vector<int>>(), prompt_ids(golden));
  EXPECT_EQ(answer.at("finish_reason"), "length");
  EXPECT_EQ(answer.at("input_mode"), "language");
  EXPECT_EQ(answer.at("usage"), json::parse(R"({"prompt_tokens": 17, "completion_tokens": 12, "total_tokens": 29,
      "prompt_tokens_details": {"text_tokens": 17, "image_tokens": 0, "audio_tokens": 0}})"));
  for (const char* key : {"encode_seconds", "prefill_seconds", "decode_seconds", "prefill_tokens_per_second",
                          "decode_tokens_per_second"}) {
    EXPECT_GE(answer.at("timings").at(key).get<double>(), 0) << key;
  }
  EXPECT_TRUE(answer.at("text").is_string());
  EXPECT_EQ(answer.size(), 8u);
}

TEST(Run, EveryFormOfOnePromptIsTheSamePrompt) {
  const TempFolder folder;
  // i_tiny: <|user|><|image_1|>What is shown in this image?<|end|><|assistant|>
  const Golden golden = Golden::load("i_tiny");
  const std::string question = "What is shown in this image?";
  const std::vector<std::string> common = {"--max-tokens", "4", "--ignore-eos", "--json"};
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), common.begin(), common.end());
    return run_tiny("run", arguments).json();
  };
  const json turn = run({"--image", media("tiny100x60.png"), question});
  expect_golden_ids(turn, golden, 4);
  EXPECT_EQ(turn.at("prompt_token_ids").get<std::vector<int>>(), prompt_ids(golden));
  EXPECT_EQ(turn.at("input_mode"), "vision");
  EXPECT_EQ(turn.at("usage").at("prompt_tokens_details").at("image_tokens"), golden.json.at("num_img_tokens")[0]);

  folder.write("ids.json", golden.json.at("prompt_ids_unexpanded").dump());
  folder.write("chat.json", json::array({{{"role", "user"},
                                          {"content",
                                           {{{"type", "image_url"}, {"image_url", {{"url", "copy.png"}}}},
                                            {{"type", "text"}, {"text", question}}}}}})
                                .dump());
  folder.write("copy.png", testing::read_test_file(media("tiny100x60.png")));
  const json others[] = {run({"--image", media("tiny100x60.png"), "--prompt", question}),
                         run({"--raw-prompt", golden.json.at("prompt"), "--image", media("tiny100x60.png")}),
                         run({"--token-ids", (folder / "ids.json").string(), "--image", media("tiny100x60.png")}),
                         run({"--messages", (folder / "chat.json").string()})};  // a path relative to the file
  for (const json& other : others) {
    for (const char* key : {"text", "token_ids", "logprobs", "prompt_token_ids", "usage", "input_mode"}) {
      EXPECT_EQ(other.at(key), turn.at(key)) << key;
    }
  }
}

TEST(Run, MediaStandInCommandLineOrder) {
  const auto slots = [](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--max-tokens", "1", "--json", "q"});
    const json answer = run_tiny("run", all).json();
    EXPECT_EQ(answer.at("input_mode"), "vision_speech");
    std::string order;  // runs of media ids
    int before = 0;
    for (const int id : answer.at("prompt_token_ids").get<std::vector<int>>()) {
      if (id != before && (id == 1546 || id == 1547)) order += id == 1546 ? 'i' : 'a';
      before = id;
    }
    return order;
  };
  const std::string image = media("tiny100x60.png"), audio = media("tone1s.flac");
  EXPECT_EQ(slots({"--image", image, "--audio", audio}), "ia");
  EXPECT_EQ(slots({"--audio", audio, "--image", image}), "ai");
  EXPECT_EQ(slots({"--audio", audio, "--image", image, "--audio", audio}), "aia");
}

TEST(Run, MediaWithoutAPromptIsATurn) {
  const json answer = run_tiny("run", {"--audio", media("tone1s.flac"), "--max-tokens", "2", "--json"}).json();
  EXPECT_EQ(answer.at("input_mode"), "speech");
  EXPECT_EQ(answer.at("usage").at("prompt_tokens_details").at("audio_tokens"), 13);
  EXPECT_EQ(answer.at("usage").at("prompt_tokens_details").at("text_tokens"), 3);  // <|user|> <|end|> <|assistant|>
}

TEST(Run, ControlTokensInAPromptStayCharacters) {
  const json answer = run_tiny("run", {"<|end|><|image_1|><|endoftext10|>", "--max-tokens", "1", "--json"}).json();
  EXPECT_EQ(answer.at("input_mode"), "language");
  const auto ids = answer.at("prompt_token_ids").get<std::vector<int>>();
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 1546), 0);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 1556), 1);  // the turn's own <|end|>
}

TEST(Run, StreamedAndWholeTextAreTheText) {
  const std::vector<std::string> arguments = {"Name a colour", "--max-tokens", "24", "--ignore-eos"};
  const auto with = [&](const std::string& flag) {
    std::vector<std::string> all = arguments;
    if (!flag.empty()) all.push_back(flag);
    return run_tiny("run", all);
  };
  const std::string text = with("--json").json().at("text");
  EXPECT_FALSE(text.empty());
  EXPECT_EQ(with("").out, text + "\n");
  EXPECT_EQ(with("--no-stream").out, text + "\n");
}

TEST(Run, AStopTextEndsTheAnswerAndIsLeftOut) {
  const std::vector<std::string> arguments = {"Name a colour", "--max-tokens", "24", "--ignore-eos", "--json"};
  const std::string text = run_tiny("run", arguments).json().at("text");
  ASSERT_GT(text.size(), 12u);
  size_t at = text.size() / 2;
  while ((static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;  // begin of a character
  size_t end = at + 1;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) ++end;
  std::vector<std::string> all = arguments;
  all.insert(all.end(), {"--stop", "never said", "--stop", text.substr(at, end - at)});
  const json stopped = run_tiny("run", all).json();
  EXPECT_EQ(stopped.at("text"), text.substr(0, text.find(text.substr(at, end - at))));
  EXPECT_EQ(stopped.at("finish_reason"), "stop");
}

TEST(Run, StopIdsAndBiasSteerTheAnswer) {
  const json biased = run_tiny("run", {"hi", "--max-tokens", "3", "--logit-bias", "65=1000", "--json"}).json();
  EXPECT_EQ(biased.at("token_ids"), json({65, 65, 65}));
  const json stopped =
      run_tiny("run", {"hi", "--max-tokens", "3", "--logit-bias", "65=1000", "--stop-token-id", "65", "--json"}).json();
  EXPECT_EQ(stopped.at("token_ids"), json({65}));
  EXPECT_EQ(stopped.at("finish_reason"), "stop");
}

TEST(Run, ASeedRepeatsASampledAnswer) {
  const auto ids = [](const std::string& seed) {
    return run_tiny("run",
                    {"hi", "--max-tokens", "16", "--temperature", "1.5", "--seed", seed, "--ignore-eos", "--json"})
        .json()
        .at("token_ids");
  };
  EXPECT_EQ(ids("1"), ids("1"));
  EXPECT_NE(ids("1"), ids("2"));
}

TEST(Run, LogprobsRoundTripAsFloat32) {
  const json answer = run_tiny("run", {"hi", "--max-tokens", "8", "--ignore-eos", "--json"}).json();
  const testing::ProgramResult again =
      run_tiny("run", {"hi", "--max-tokens", "8", "--ignore-eos", "--json", "--prefill-chunk", "1", "--threads", "1"});
  EXPECT_EQ(again.json().at("logprobs"), answer.at("logprobs"));
  for (const json& value : answer.at("logprobs")) {
    char digits[40];
    std::snprintf(digits, sizeof digits, "%.9g", value.get<double>());
    EXPECT_EQ(std::strtof(digits, nullptr), static_cast<float>(value.get<double>()));
    EXPECT_LE(value.dump().size(), 16u) << "more digits than a float32 has: " << value.dump();
  }
}

TEST(Run, MaxImageCropsIsTheReferencesRule) {
  const auto tokens = [](const std::string& crops) {
    return run_tiny("run", {"--image", media("big3000x2900.png"), "--max-image-crops", crops, "--max-tokens", "1",
                            "--json", "q"})
        .json()
        .at("usage")
        .at("prompt_tokens_details")
        .at("image_tokens")
        .get<int>();
  };
  EXPECT_EQ(tokens("1"), 16 * 17 + 1 + 16 * 17);
  EXPECT_LT(tokens("1"), tokens("4"));
}

TEST(Run, PipedLinesAreAChatWithHistory) {
  const testing::ProgramResult chat =
      run_tiny("run", {"--max-tokens", "6", "--ignore-eos"}, "one\ntwo\n/reset\none\n/quit\nnever\n");
  EXPECT_EQ(chat.exit_code, 0) << chat.err;
  const json first = run_tiny("run", {"one", "--max-tokens", "6", "--ignore-eos", "--json"}).json();
  const TempFolder folder;
  folder.write("chat.json", json::array({{{"role", "user"}, {"content", "one"}},
                                         {{"role", "assistant"}, {"content", first.at("text")}},
                                         {{"role", "user"}, {"content", "two"}}})
                                .dump());
  const json second =
      run_tiny("run", {"--messages", (folder / "chat.json").string(), "--max-tokens", "6", "--ignore-eos", "--json"})
          .json();
  const std::string one = first.at("text").get<std::string>() + "\n";
  EXPECT_EQ(chat.out, one + second.at("text").get<std::string>() + "\n" + one);
}

TEST(Run, AChatTakesMediaAndSurvivesMistakes) {
  const testing::ProgramResult chat =
      run_tiny("run", {"--max-tokens", "2", "--ignore-eos"},
               "/image no-such.png\n/video a.mp4\n/image " + media("tiny100x60.png") + "\nWhat?\n");
  EXPECT_EQ(chat.exit_code, 3);
  EXPECT_NE(chat.err.find("no-such.png"), std::string::npos) << chat.err;
  EXPECT_NE(chat.err.find("/video"), std::string::npos) << chat.err;
  const json alone =
      run_tiny("run", {"--image", media("tiny100x60.png"), "What?", "--max-tokens", "2", "--ignore-eos", "--json"})
          .json();
  EXPECT_EQ(chat.out, alone.at("text").get<std::string>() + "\n");
}

TEST(Run, InputErrorsExit3AndNameTheFile) {
  const TempFolder folder;
  folder.write("not-an-image.png", "plain text");
  folder.write("ids.json", "[1557, 35, 1556, 1555]");
  folder.write("expanded.json", json(std::vector<int>(40, 1546)).dump());
  folder.write("bad.json", "[{\"role\": \"user\"}]");
  folder.write("cut.wav", "RIFF");
  const auto file = [&](const std::string& name) { return (folder / name).string(); };
  expect_failure(run_tiny("run", {"--image", "absent.png", "q"}), 3, {"absent.png"});
  expect_failure(run_tiny("run", {"--image", "absent.mp4", "q"}), 3, {"absent.mp4", "a video"});
  expect_failure(run_tiny("run", {"--video", "absent.mp4", "q"}), 3, {"absent.mp4", "a video"});
  expect_failure(run_tiny("run", {"--audio", "absent.mkv", "q"}), 3, {"absent.mkv", "a video"});
  expect_failure(run_tiny("run", {"--image", "https://host/a.png", "q"}), 3, {"https://host/a.png", "download"});
  expect_failure(run_tiny("run", {"--image", file("not-an-image.png"), "q"}), 3, {"not-an-image.png"});
  expect_failure(run_tiny("run", {"--audio", file("cut.wav"), "q"}), 3, {"cut.wav"});
  expect_failure(run_tiny("run", {"--messages", file("bad.json")}), 3, {"bad.json", "messages[0]", "content"});
  expect_failure(run_tiny("run", {"--messages", file("absent.json")}), 3, {"absent.json"});
  expect_failure(run_tiny("run", {"--token-ids", file("ids.json"), "--image", media("tiny100x60.png")}), 3,
                 {"0 image slots", "one for each image given"});
  expect_failure(run_tiny("run", {"--token-ids", file("expanded.json"), "--image", media("tiny100x60.png")}), 3,
                 {"40 image slots"});
  expect_failure(run_tiny("run", {"--raw-prompt", "<|user|><|image_1|><|end|>"}), 3, {"1 image slots"});
  expect_failure(run_tiny("run", {"\xff\xfe"}), 3, {"UTF-8"});
  expect_failure(run_tiny("run", {"q", "--stop-token-id", "1600"}), 3, {"--stop-token-id", "1600"});
  expect_failure(run_tiny("run", {"q", "--logit-bias", "1600=1"}), 3, {"logit_bias", "1600"});
}

TEST(Run, UsageErrorsExit2BeforeAnyModelIsLoaded) {
  const std::vector<std::vector<std::string>> cases = {{"q", "--no-such-flag"},
                                                       {"q", "extra"},
                                                       {"q", "--temperature", "-1"},
                                                       {"q", "--temperature", "nan"},
                                                       {"q", "--temperature", "warm"},
                                                       {"q", "--top-k", "-1"},
                                                       {"q", "--top-p", "0"},
                                                       {"q", "--top-p", "1.5"},
                                                       {"q", "--min-p", "2"},
                                                       {"q", "--repetition-penalty", "0"},
                                                       {"q", "--presence-penalty", "inf"},
                                                       {"q", "--max-tokens", "0"},
                                                       {"q", "--max-image-crops", "37"},
                                                       {"q", "--max-image-crops", "-1"},
                                                       {"q", "--logit-bias", "5"},
                                                       {"q", "--logit-bias", "x=1"},
                                                       {"q", "--logit-bias", "5=1x"},
                                                       {"q", "--stop", ""},
                                                       {"q", "--stop-token-id", "-2"},
                                                       {"q", "--seed", "-1"},
                                                       {"q", "--threads", "-1"},
                                                       {"q", "--prefill-chunk", "0"},
                                                       {"q", "--kv-dtype", "int8"},
                                                       {"q", "--compute-dtype", "bf16"},
                                                       {"q", "--compute-dtype", "fp8"},
                                                       {"q", "--messages", "m.json"},
                                                       {"q", "--token-ids", "m.json"},
                                                       {"--messages", "m.json", "--token-ids", "m.json"},
                                                       {"--messages", "m.json", "--image", "a.png"},
                                                       {"--messages", "m.json", "--system", "s"},
                                                       {"--token-ids", "m.json", "--system", "s"},
                                                       {"--raw-prompt"},
                                                       {"--raw-prompt", "q", "--system", "s"},
                                                       {"--json"}};
  for (std::vector<std::string> arguments : cases) {
    std::string shown;
    for (const std::string& argument : arguments) shown += argument + " ";
    arguments.insert(arguments.begin(), {"run", "--model", "/no/such/model"});
    const testing::ProgramResult result = testing::run_program(arguments);
    EXPECT_EQ(result.exit_code, 2) << shown << result.err;
    EXPECT_NE(result.err.find("usage error"), std::string::npos) << shown << result.err;
    EXPECT_EQ(result.out, "") << shown;
  }
}

TEST(Run, ACheckpointThatIsntThereExits4) {
  expect_failure(testing::run_program({"run", "--model", "/no/such/model", "q"}), 4, {"/no/such/model"});
}

}  // namespace
}  // namespace omniphi

// The verbs with a model of the second family, from the outside.
#include <gtest/gtest.h>

#include <filesystem>

#include "models/phi3v/checkpoint/checkpoint.h"
#include "models/phi3v/checkpoint/synth_tokenizer.h"
#include "testing/phi3v_golden.h"
#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::phi3v_root;
using testing::ProgramResult;
using testing::run_program;
using testing::TempFolder;

std::string medium(const std::string& name) { return phi3v_root() + "/media/" + name; }

// The goldens' weights with a tokenizer of the release's size, which nobody trained.
const std::string& golden_model() {
  static const TempFolder folder;
  static const std::string path = [] {
    for (const char* name :
         {"config.json", "model.safetensors", "generation_config.json", "preprocessor_config.json"}) {
      std::filesystem::create_symlink(phi3v_root() + "/model/" + name, folder / name);
    }
    phi3v::write_synthetic_tokenizer(phi3v::open_config(folder.path()).config, folder.path());
    return folder.path().string();
  }();
  return path;
}

ProgramResult run_phi3v(const std::string& verb, std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {verb, "--model", golden_model()});
  return run_program(arguments, input);
}

TEST(Phi3vScore, EqualsTheReferenceWithNullAtPictures) {
  for (const std::string name : {"text_user", "image_middle_c1", "images_adjacent_c1", "img_square_c4"}) {
    const json golden = testing::phi3v_case(name);
    const auto tensors = testing::read_test_safetensors(phi3v_root() + "/cases/" + name + ".safetensors");
    const TempFolder folder;
    folder.write("ids.json", json(testing::phi3v_slots(tensors.at("input_ids"))).dump());
    std::vector<std::string> arguments = {"--token-ids", (folder / "ids.json").string(), "--reference-media", "--json"};
    // 4 is the checkpoint's own number.
    if (golden.at("num_crops") != 4) {
      arguments.insert(arguments.end(), {"--max-image-crops", golden.at("num_crops").dump()});
    }
    for (const std::string file : golden.at("images")) {
      arguments.insert(arguments.end(), {"--image", medium(file)});
    }
    const json score = run_phi3v("score", arguments).json();
    const auto& wanted = tensors.at("prompt_logprobs").values;
    const auto& mask = tensors.at("prompt_logprob_mask").values;
    ASSERT_EQ(score.at("logprobs").size(), wanted.size()) << name;
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(score.at("token_ids")[i].get<double>(), tensors.at("input_ids").values[i]);
      ASSERT_EQ(score.at("logprobs")[i].is_null(), mask[i] == 0) << name << ", token " << i;
      if (mask[i] == 0) continue;
      EXPECT_NEAR(score.at("logprobs")[i].get<double>(), wanted[i], 1e-3) << name << ", token " << i;
    }
    EXPECT_EQ(score.at("input_mode"), golden.at("images").empty() ? "language" : "vision");
  }
}

TEST(Phi3vScore, TheTableNamesPictures) {
  const ProgramResult table =
      run_phi3v("score", {"--image", medium("tiny_7x5.png"), "--max-image-crops", "1", "what?"});
  EXPECT_EQ(table.exit_code, 0) << table.err;
  EXPECT_NE(table.out.find("(picture)"), std::string::npos);
  EXPECT_NE(table.out.find("perplexity"), std::string::npos);
  EXPECT_EQ(table.out.find("nan"), std::string::npos);
}

TEST(Phi3vRun, TakesPicturesAndNumbersThem) {
  const json answer = run_phi3v("run", {"--image", medium("square_224.png"), "--image", medium("tiny_7x5.png"),
                                        "--max-image-crops", "1", "--max-tokens", "4", "--json", "Compare."})
                          .json();
  const auto ids = answer.at("prompt_token_ids").get<std::vector<int>>();
  EXPECT_EQ(std::count(ids.begin(), ids.end(), -1), 313);
  EXPECT_EQ(std::count(ids.begin(), ids.end(), -2), 313);
  // A begin token stands before every stretch of text.
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 1), 3);
  EXPECT_EQ(answer.at("usage").at("prompt_tokens_details").at("image_tokens"), 626);
  EXPECT_EQ(answer.at("usage").at("prompt_tokens_details").at("audio_tokens"), 0);
  EXPECT_EQ(answer.at("input_mode"), "vision");
}

TEST(Phi3vRun, TheCropLeverGoesUpAndDown) {
  const auto image_tokens = [](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--image", medium("large_1400x1000.png"), "--max-tokens", "1", "--json", "Read."});
    return run_phi3v("run", flags).json().at("usage").at("prompt_tokens_details").at("image_tokens").get<int>();
  };
  EXPECT_EQ(image_tokens({}), 757);  // 4 crops, as the checkpoint says
  EXPECT_EQ(image_tokens({"--max-image-crops", "1"}), 313);
  EXPECT_EQ(image_tokens({"--max-image-crops", "16"}), 1921);  // 4x3
  expect_failure(run_phi3v("run", {"--image", medium("tiny_7x5.png"), "--max-image-crops", "17", "x"}), 2,
                 {"--max-image-crops", "1 to 16"});
  // And for each request of a batch.
  const auto request = [](const char* extra) {
    return R"({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": ")" +
           medium("square_224.png") + R"("}}, {"type": "text", "text": "Read."}]}], "max_tokens": 1)" + extra + "}\n";
  };
  const ProgramResult batch =
      run_phi3v("run", {"--batch", "-"},
                request("") + request(R"(, "max_image_crops": 1)") + request(R"(, "max_image_crops": 17)"));
  EXPECT_EQ(batch.exit_code, 3);
  std::istringstream lines(batch.out);
  std::string line;
  std::vector<json> answers;
  while (std::getline(lines, line)) answers.push_back(json::parse(line));
  ASSERT_EQ(answers.size(), 3u) << batch.err;
  EXPECT_EQ(answers[0].at("usage").at("prompt_tokens_details").at("image_tokens"), 757);
  EXPECT_EQ(answers[1].at("usage").at("prompt_tokens_details").at("image_tokens"), 313);
  EXPECT_NE(answers[2].at("error").at("expected").get<std::string>().find("1 to 16"), std::string::npos);
}

TEST(Phi3vRun, RawPromptsFollowTheTagRules) {
  const auto raw = [](const std::string& prompt, int pictures) {
    std::vector<std::string> arguments = {"--raw-prompt", prompt, "--max-image-crops", "1", "--max-tokens", "1",
                                          "--json"};
    for (int i = 0; i < pictures; ++i) arguments.insert(arguments.end(), {"--image", medium("tiny_7x5.png")});
    return run_phi3v("run", arguments);
  };
  EXPECT_EQ(raw("<|image_1|>\n<|image_2|>\nsame?", 2).exit_code, 0);
  expect_failure(raw("<|image_2|>\n<|image_1|>\nsame?", 2), 3, {"<|image_2|>", "<|image_1|>"});
  expect_failure(raw("<|image_1|><|image_1|>same?", 2), 3, {"<|image_1|>"});
  expect_failure(raw("<|image_1|>same?", 2), 3, {"<|image_2|>"});
  // Without pictures a tag is text.
  EXPECT_EQ(raw("<|image_7|>", 0).exit_code, 0);
}

TEST(Phi3vRun, RefusesAudioByName) {
  const std::string audio = testing::golden_root() + "/media/short8k.wav";
  expect_failure(run_phi3v("run", {"--audio", audio, "What is said?"}), 3, {"audio", "Phi-4-multimodal"});
  expect_failure(run_phi3v("run", {"--audio", audio, "--raw-prompt", "hi"}), 3, {"audio", "Phi-4-multimodal"});
}

TEST(Phi3vProcess, WritesPixelsWithoutMasks) {
  const TempFolder folder;
  const std::string out = (folder / "out.safetensors").string();
  const json summary = run_phi3v("process", {"--image", medium("square_224.png"), "--image", medium("tiny_7x5.png"),
                                             "--out", out, "--json", "hi"})
                           .json();
  const auto tensors = testing::read_test_safetensors(out);
  EXPECT_EQ(tensors.at("pixel_values").shape, (std::vector<int64_t>{2, 5, 3, 336, 336}));
  EXPECT_EQ(tensors.at("num_img_tokens").values, (std::vector<double>{757, 757}));
  EXPECT_EQ(tensors.at("image_sizes").values, (std::vector<double>{672, 672, 672, 672}));
  EXPECT_EQ(tensors.count("image_attention_mask"), 0u);
  EXPECT_EQ(summary.at("input_mode"), "vision");
}

TEST(Phi3vInspect, PrintsTheSameKindOfTable) {
  const json second = run_program({"inspect", golden_model(), "--json"}).json();
  const json first = run_program({"inspect", testing::tiny_checkpoint(), "--json"}).json();
  for (const auto& [key, value] : first.items()) EXPECT_TRUE(second.contains(key)) << key;
  EXPECT_EQ(second.at("family"), "Phi-3.5-vision");
  EXPECT_EQ(first.at("family"), "Phi-4-multimodal");
  EXPECT_EQ(second.at("parts").size(), 3u);
  EXPECT_FALSE(second.at("sizes").contains("audio"));
  EXPECT_EQ(second.at("limits").at("max_image_crops"), 16);
  EXPECT_EQ(second.at("sizes").at("vision").at("max_crops"), 4);
  EXPECT_EQ(second.at("special_ids").at("stop"), json({32007, 32001, 32000}));
  const ProgramResult human = run_program({"inspect", golden_model()});
  for (const char* part : {"Phi-3.5-vision", "decoder", "vision tower", "vision projector", "total", "CLIP"}) {
    EXPECT_NE(human.out.find(part), std::string::npos) << part << "\n" << human.out;
  }
  EXPECT_EQ(human.out.find("LoRA"), std::string::npos);
}

TEST(Phi3vSynth, TheReleaseHasItsTensors) {
  const TempFolder folder;
  const std::string out = (folder / "shapes").string();
  const json summary = run_program({"synth", "--preset", "phi3.5v", "--sparse", "--out", out, "--json"}).json();
  EXPECT_EQ(summary.at("tensors"), 592);
  EXPECT_EQ(summary.at("parameters"), int64_t{4'146'621'440});
  const json found = run_program({"inspect", out, "--json"}).json();
  EXPECT_EQ(found.at("total").at("parameters"), int64_t{4'146'621'440});
  expect_failure(run_program({"synth", "--preset", "phi3.5v", "--layout", "native", "--out", (folder / "x").string()}),
                 2, {"--layout", "native", "Phi-3.5-vision"});
}

TEST(Phi3vBench, Runs) {
  const TempFolder folder;
  const std::string out = (folder / "tiny").string();
  ASSERT_EQ(run_program({"synth", "--preset", "tiny-phi3v", "--out", out}).exit_code, 0);
  const json result =
      run_program({"bench", "--model", out, "--prompt-tokens", "20", "--answer-tokens", "3", "--repeat", "1", "--json"})
          .json();
  EXPECT_GT(result.at("decode_tokens_per_second").get<double>(), 0);
}

TEST(Phi3vTokenize, KnowsControlTokensWhenAsked) {
  const auto ids = [](const std::string& text, std::vector<std::string> flags) {
    return json::parse(run_phi3v("tokenize", std::move(flags), json(text).dump() + "\n").out).get<std::vector<int>>();
  };
  const std::vector<int> special = ids("<|user|>a", {"--special"});
  EXPECT_EQ(special.front(), 32010);
  const std::vector<int> plain = ids("<|user|>a", {});
  EXPECT_EQ(std::count(plain.begin(), plain.end(), 32010), 0);
  // The one added token that isn't special, as in the goldens' ids_specials_as_text.
  const std::vector<int> end = ids("a</s>", {});
  EXPECT_EQ(end.back(), 2);
}

// Phi-3-vision-128k: its scaling is called "su", its processor cuts 16 crops.
TEST(Phi3v128k, LoadsAndTakesItsOwnCrops) {
  const TempFolder folder;
  for (const auto& entry : std::filesystem::directory_iterator(golden_model())) {
    const std::string name = entry.path().filename().string();
    if (name != "config.json" && name != "preprocessor_config.json") {
      std::filesystem::create_symlink(std::filesystem::canonical(entry.path()), folder / name);
    }
  }
  json config = testing::read_test_json(golden_model() + "/config.json");
  config["rope_scaling"]["type"] = "su";
  config["sliding_window"] = 131072;
  folder.write("config.json", config.dump());
  json processor = testing::read_test_json(golden_model() + "/preprocessor_config.json");
  processor["num_crops"] = 16;
  folder.write("preprocessor_config.json", processor.dump());
  const json answer = run_program({"run", "--model", folder.path().string(), "--image", medium("large_1400x1000.png"),
                                   "--max-tokens", "1", "--json", "Read."})
                          .json();
  EXPECT_EQ(answer.at("usage").at("prompt_tokens_details").at("image_tokens"), 1921);
}

TEST(Families, AnUnknownModelTypeNamesThoseThatRun) {
  const TempFolder folder;
  folder.write("config.json", R"({"model_type": "llama"})");
  for (const char* verb : {"inspect", "run", "plan", "process"}) {
    std::vector<std::string> arguments = {verb, "--model", folder.path().string()};
    if (std::string(verb) == "run") arguments.push_back("hi");
    if (std::string(verb) == "process") arguments.insert(arguments.end(), {"hi", "--out", (folder / "o").string()});
    expect_failure(run_program(arguments), 4, {"llama", "phi4mm", "phi4_multimodal", "phi3_v"});
  }
}

}  // namespace
}  // namespace omniphi

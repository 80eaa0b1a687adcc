// omniphi demo, from the outside, and the pieces that it prints.
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/demo/questions.h"
#include "cli/terminal/waveform.h"
#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::golden_root;
using testing::run_tiny;
using testing::TempFolder;

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// A folder of questions about a picture, a recording, both, and nothing but text.
class DemoFolder {
 public:
  DemoFolder() {
    folder_.write("a.png", testing::read_test_file(golden_root() + "/media/tiny100x60.png"));
    folder_.write("b.flac", testing::read_test_file(golden_root() + "/media/tone1s.flac"));
    questions_ = {{{"title", "Seen"}, {"image", "a.png"}, {"text", "What?"}},
                  {{"title", "Heard"}, {"audio", "b.flac"}, {"text", "What is said?"}},
                  {{"title", "Both"}, {"image", "a.png"}, {"audio", "b.flac"}, {"text", ""}},
                  {{"title", "Said"}, {"text", "What's 1 + 1?"}}};
  }

  json& questions() { return questions_; }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  testing::ProgramResult demo(std::vector<std::string> arguments = {}) const {
    folder_.write("demo.json", questions_.dump());
    arguments.insert(arguments.end(), {"--questions", path("demo.json")});
    return run_tiny("demo", arguments);
  }

  // What `run` answers to the question, as demo has it.
  std::string answer(size_t index) const {
    const json& question = questions_[index];
    std::vector<std::string> arguments = {"--max-tokens", "64", "--json"};
    if (question.contains("image")) arguments.insert(arguments.end(), {"--image", path("a.png")});
    if (question.contains("audio")) arguments.insert(arguments.end(), {"--audio", path("b.flac")});
    if (question.at("text") != "") arguments.push_back(question.at("text"));
    return run_tiny("run", arguments).json().at("text");
  }

 private:
  TempFolder folder_;
  json questions_;
};

TEST(Demo, ShowsTitleCommandMediaAnswerAndCountsOfEachQuestion) {
  const DemoFolder folder;
  const testing::ProgramResult result = folder.demo({"--pictures", "blocks"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string command = "run --model " + testing::tiny_checkpoint();
  const std::vector<std::string> parts = {
      "ready in",
      "\nSeen\n",
      command + " --image " + folder.path("a.png") + " \"What?\"\n\x1b[38;5;",
      "\u2580",
      "\n" + folder.answer(0) + "\n",
      " image) read in ",
      "\nHeard\n",
      command + " --audio " + folder.path("b.flac") + " \"What is said?\"\n",
      "\u2588",
      "  1.0 s\n" + folder.answer(1) + "\n",
      "13 audio) read in ",
      "\nBoth\n",
      command + " --image " + folder.path("a.png") + " --audio " + folder.path("b.flac") + "\n",
      "  1.0 s\n" + folder.answer(2) + "\n",
      "\nSaid\n",
      command + " \"What's 1 + 1?\"\n" + folder.answer(3) + "\n"};
  size_t at = 0;
  for (const std::string& part : parts) {
    const size_t found = result.out.find(part, at);
    ASSERT_NE(found, std::string::npos) << part << "\n in what follows \n" << result.out.substr(at);
    at = found;
  }
  EXPECT_FALSE(contains(folder.demo().out, "\x1b")) << "colours in a file";
}

TEST(Demo, CheckHoldsAnswersToWhatIsExpected) {
  DemoFolder folder;
  folder.questions()[0]["expect"] = folder.answer(0) + "\n";  // white space at the ends doesn't count
  EXPECT_EQ(folder.demo({"--check"}).exit_code, 0);           // the others expect nothing
  folder.questions()[1]["expect"] = "42";
  EXPECT_EQ(folder.demo().exit_code, 0);
  const testing::ProgramResult wrong = folder.demo({"--check"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(contains(wrong.out, "expected: 42\n")) << wrong.out;
  EXPECT_TRUE(contains(wrong.out, "\nSaid\n")) << "the rest is asked too";
  EXPECT_TRUE(contains(wrong.err, "1 of 4")) << wrong.err;
}

TEST(Demo, AsksTheShippedQuestions) {
  const TempFolder data;
  std::filesystem::create_directories(data / "models/nano/demo");
  data.write("models/nano/demo/demo.json", json::array({{{"title", "Shipped"}, {"text", "hi"}}}).dump());
  ASSERT_EQ(setenv("OMNIPHI_DATA", data.path().c_str(), 1), 0);
  const testing::ProgramResult asked = run_tiny("demo", {});
  std::filesystem::remove(data / "models/nano/demo/demo.json");
  const testing::ProgramResult absent = run_tiny("demo", {});
  unsetenv("OMNIPHI_DATA");
  EXPECT_TRUE(contains(asked.out, "\nShipped\n")) << asked.out << asked.err;
  expect_failure(absent, 3, {"demo.json", data.path().string(), "--questions"});
}

TEST(Demo, BadQuestionsAreInputErrors) {
  DemoFolder folder;
  const auto refused = [&](const json& questions, const std::vector<std::string>& named) {
    folder.questions() = questions;
    expect_failure(folder.demo(), 3, named);
  };
  refused(json::array(), {"demo.json", "a list of questions"});
  refused({{"title", "x"}}, {"demo.json"});
  refused(json::array({"x"}), {"[0]", "title"});
  refused(json::array({{{"title", "x"}}}), {"[0]", "no text"});
  refused(json::array({{{"text", "x"}}}), {"[0]", "no title"});
  refused(json::array({{{"title", "x"}, {"text", "y"}, {"video", "z"}}}), {"[0]", "video"});
  refused(json::array({{{"title", "x"}, {"text", 1}}}), {"[0].text", "1"});
  expect_failure(run_tiny("demo", {"--questions", "absent.json"}), 3, {"absent.json"});
  expect_failure(run_tiny("demo", {"--pictures", "ascii"}), 2, {"--pictures"});
}

TEST(DemoQuestions, AMediumThatIsMissingIsNamed) {
  DemoFolder folder;
  folder.questions() = json::array({{{"title", "x"}, {"image", "absent.png"}, {"text", "y"}}});
  const testing::ProgramResult result = folder.demo();
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_TRUE(contains(result.err, "absent.png")) << result.err;
}

TEST(DemoQuestions, WordsOfAShell) {
  EXPECT_EQ(cli::shell_word("models/nano/a-b_1.png"), "models/nano/a-b_1.png");
  EXPECT_EQ(cli::shell_word("What is 3 + 4?"), "\"What is 3 + 4?\"");
  EXPECT_EQ(cli::shell_word(""), "\"\"");
  EXPECT_EQ(cli::shell_word("a $b `c` \"d\" !"), "'a $b `c` \"d\" !'");
  EXPECT_EQ(cli::shell_word("it's"), "\"it's\"");
  EXPECT_EQ(cli::shell_word("it's $5"), "'it'\\''s $5'");
}

TEST(DemoQuestions, PathsBelowTheCurrentFolderAreShort) {
  EXPECT_EQ(cli::short_path(std::filesystem::current_path() / "a" / "b.png"), "a/b.png");
  EXPECT_EQ(cli::short_path("/no/such/b.png"), "/no/such/b.png");
}

TEST(Waveform, HeightsFollowThePeaks) {
  const std::vector<double> samples = {0, 0, 0.25, -0.5, 0.1, 0.1, -1, 0.2};
  EXPECT_EQ(cli::draw_waveform(samples, 4), "\u2581\u2585\u2581\u2588");
  EXPECT_EQ(cli::draw_waveform(samples, 1), "\u2588");
  EXPECT_EQ(cli::draw_waveform(std::vector<double>{0, 0, 0}, 60), "\u2581\u2581\u2581");
  EXPECT_EQ(cli::draw_waveform({}, 60), "");
}

}  // namespace
}  // namespace omniphi

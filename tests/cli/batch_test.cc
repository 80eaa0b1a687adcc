// omniphi run --batch, from the outside.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

#include "cli/line_reader.h"
#include "testing/program.h"

namespace omniphi {
namespace {

using nlohmann::json;
using testing::expect_failure;
using testing::golden_root;
using testing::run_tiny;
using testing::TempFolder;

std::string media(const std::string& name) { return golden_root() + "/media/" + name; }

json user(const json& content) { return json::array({{{"role", "user"}, {"content", content}}}); }
// A user's message of parts.
json parts(const std::vector<json>& list) { return user(json(list)); }
json text_part(const std::string& text) { return {{"type", "text"}, {"text", text}}; }
json image_part(const std::string& url) { return {{"type", "image_url"}, {"image_url", {{"url", url}}}}; }
json audio_part(const std::string& url) { return {{"type", "audio_url"}, {"audio_url", {{"url", url}}}}; }

std::vector<json> lines_of(const std::string& out) {
  std::vector<json> lines;
  std::istringstream stream(out);
  for (std::string line; std::getline(stream, line);) lines.push_back(json::parse(line));
  return lines;
}

// Everything but what a clock says.
json without_timings(json answer) {
  EXPECT_EQ(answer.erase("timings"), 1u) << answer;
  return answer;
}

// Requests of all four input modes, of both forms.
std::vector<json> mixed_requests() {
  return {user("one"),
          {{"messages", parts({image_part("a.png"), text_part("What?")})}, {"id", "picture"}},
          {{"id", {{"deep", {1, nullptr}}}}, {"messages", parts({audio_part("b.flac")})}, {"max_tokens", 3}},
          {{"id", 4}, {"messages", parts({image_part("a.png"), audio_part("b.flac"), text_part("Both?")})}},
          user("a text that is a little longer than the others, so that prompts of different lengths run together")};
}

TEST(Batch, AnswersEveryLineAsRunDoesAloneWhateverTheBatchSize) {
  const TempFolder folder;
  folder.write("a.png", testing::read_test_file(media("tiny100x60.png")));
  folder.write("b.flac", testing::read_test_file(media("tone1s.flac")));
  std::string text;
  std::vector<json> alone;
  for (const json& request : mixed_requests()) {
    text += request.dump() + "\n";
    folder.write("alone.json", (request.is_array() ? request : request.at("messages")).dump());
    const std::string limit = request.is_object() && request.contains("max_tokens") ? "3" : "6";
    json answer = run_tiny("run", {"--messages", (folder / "alone.json").string(), "--max-tokens", limit,
                                   "--ignore-eos", "--json"})
                      .json();
    if (request.is_object()) answer["id"] = request.at("id");
    alone.push_back(without_timings(answer));
  }
  text.insert(text.find('\n') + 1, " \t\n");                        // a line of white space counts, and asks nothing
  folder.write("requests.jsonl", text.substr(0, text.size() - 1));  // the last line without its end
  for (const char* size : {"1", "2", "8"}) {
    const testing::ProgramResult result = run_tiny("run", {"--batch", (folder / "requests.jsonl").string(),
                                                           "--batch-size", size, "--max-tokens", "6", "--ignore-eos"});
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const std::vector<json> answers = lines_of(result.out);
    ASSERT_EQ(answers.size(), alone.size()) << result.err;
    for (size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(without_timings(answers[i]), alone[i]) << size << " " << i;
  }
}

TEST(Batch, ABadLineIsAnsweredByItsErrorAndTheRestGoesOn) {
  const TempFolder folder;
  const std::string good = user("hi").dump();
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"[{\"role\": \"user\"", "line 2"},
      {"[]", "messages"},
      {"{\"id\": 3}", "line 4"},
      {"{\"id\": 4, \"messages\": " + parts({image_part("absent.png")}).dump() + "}", "absent.png"},
      {"{\"id\": 5, \"messages\": " + good + ", \"max_tokens\": 0}", "max_tokens"},
      {"{\"id\": 6, \"messages\": " + good + ", \"top_k\": 1}", "line 7"},
      {"{\"id\": 7, \"id\": 8, \"messages\": " + good + "}", "line 8"},
      {"{\"id\": 9, \"messages\": " + parts({image_part("text.png")}).dump() + "}", "text.png"},
      {"\xff", "line 10"},
      {"{\"id\": 11, \"messages\": " + parts({image_part("clip.mp4")}).dump() + "}", "clip.mp4"}};
  folder.write("text.png", "no picture");
  std::string text = good + "\n";
  for (const auto& [line, where] : bad) text += line + "\r\n";
  folder.write("requests.jsonl", text + good + "\n");
  const testing::ProgramResult result =
      run_tiny("run", {"--batch", (folder / "requests.jsonl").string(), "--batch-size", "3", "--max-tokens", "2"});
  EXPECT_EQ(result.exit_code, 3) << result.err;
  const std::vector<json> answers = lines_of(result.out);
  ASSERT_EQ(answers.size(), bad.size() + 2) << result.out;
  EXPECT_EQ(without_timings(answers.front()), without_timings(answers.back()));
  for (size_t i = 0; i < bad.size(); ++i) {
    const json& answer = answers[i + 1];
    EXPECT_EQ(answer.at("line"), i + 2) << answer;
    EXPECT_EQ(answer.at("error").at("kind"), "input") << answer;
    for (const char* key : {"where", "found", "expected", "remedy"}) {
      EXPECT_TRUE(answer.at("error").at(key).is_string()) << answer;
    }
    EXPECT_NE(answer.at("error").at("where").get<std::string>().find(bad[i].second), std::string::npos) << answer;
    EXPECT_FALSE(answer.contains("text")) << answer;
  }
  EXPECT_EQ(answers[3].at("id"), 3);
  EXPECT_EQ(answers[6].at("id"), 6);
  EXPECT_FALSE(answers[7].contains("id"));
}

TEST(Batch, ARequestBeyondTheContextFailsAloneAmongThoseThatRunWithIt) {
  std::string longest;
  for (int i = 0; i < 20480; ++i) longest += "z9";
  const testing::ProgramResult result =
      run_tiny("run", {"--batch", "-", "--max-tokens", "2"},
               user("hi").dump() + "\n" + user(longest).dump() + "\n" + user("hi").dump() + "\n");
  EXPECT_EQ(result.exit_code, 3) << result.err;
  const std::vector<json> answers = lines_of(result.out);
  ASSERT_EQ(answers.size(), 3u) << result.err;
  EXPECT_EQ(without_timings(answers[0]), without_timings(answers[2]));
  EXPECT_EQ(answers[1].at("line"), 2);
  EXPECT_NE(answers[1].at("error").at("expected").get<std::string>().find("context"), std::string::npos) << answers[1];
}

TEST(Batch, NothingAskedIsNothingAnswered) {
  const testing::ProgramResult result = run_tiny("run", {"--batch", "-"}, "\n  \n");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out, "");
}

TEST(Batch, MediaOnStandardInputStartFromTheCurrentFolder) {
  const std::string name = "batch_test_media.png";
  std::filesystem::copy_file(media("tiny100x60.png"), name, std::filesystem::copy_options::overwrite_existing);
  const testing::ProgramResult result =
      run_tiny("run", {"--batch", "-", "--max-tokens", "1"}, parts({image_part(name)}).dump() + "\n");
  std::filesystem::remove(name);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(lines_of(result.out).at(0).at("input_mode"), "vision");
}

// A program that waits for an answer before it asks again must get it.
TEST(Batch, AnswersALineBeforeTheNextHasCome) {
  int to[2], from[2];
  ASSERT_EQ(::pipe(to), 0);
  ASSERT_EQ(::pipe(from), 0);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    ::dup2(to[0], STDIN_FILENO);
    ::dup2(from[1], STDOUT_FILENO);
    for (const int end : {to[0], to[1], from[0], from[1]}) ::close(end);
    const std::string model = testing::tiny_checkpoint();
    ::execl(OMNIPHI_BINARY, OMNIPHI_BINARY, "run", "--model", model.c_str(), "--batch", "-", "--max-tokens", "1",
            nullptr);
    ::_exit(127);
  }
  ::close(to[0]);
  ::close(from[1]);
  FILE* answers = ::fdopen(from[0], "r");
  ASSERT_NE(answers, nullptr);
  for (int id = 0; id < 3; ++id) {
    const std::string line = json{{"id", id}, {"messages", user("hi")}}.dump() + "\n";
    ASSERT_EQ(::write(to[1], line.data(), line.size()), static_cast<ssize_t>(line.size()));
    char* text = nullptr;
    size_t room = 0;
    ASSERT_GT(::getline(&text, &room, answers), 0);
    EXPECT_EQ(json::parse(text).at("id"), id);
    std::free(text);
  }
  ::close(to[1]);
  std::fclose(answers);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

TEST(Batch, ContradictionsAreUsageErrors) {
  const std::vector<std::vector<std::string>> cases = {{"q"},
                                                       {"--image", "a.png"},
                                                       {"--audio", "a.wav"},
                                                       {"--messages", "m.json"},
                                                       {"--system", "s"},
                                                       {"--token-ids", "i.json"},
                                                       {"--raw-prompt", "q"},
                                                       {"--batch-size", "0"},
                                                       {"--batch-size", "257"}};
  for (std::vector<std::string> arguments : cases) {
    const std::string shown = arguments[0];
    arguments.insert(arguments.end(), {"--batch", "requests.jsonl"});
    const testing::ProgramResult result = run_tiny("run", arguments);
    EXPECT_EQ(result.exit_code, 2) << shown << result.err;
    EXPECT_NE(result.err.find("--batch"), std::string::npos) << result.err;
  }
  expect_failure(run_tiny("run", {"q", "--batch-size", "4"}), 2, {"--batch-size"});
  expect_failure(run_tiny("run", {"--batch", "/no/such/file"}), 3, {"/no/such/file"});
  expect_failure(run_tiny("run", {"--batch", "/"}), 3, {"/"});
}

TEST(LineReader, FindsLinesWhereverReadsEnd) {
  const TempFolder folder;
  const std::string lengthy(200000, 'x');
  folder.write("lines", "a\r\n\n" + lengthy + "\nend");
  cli::LineReader reader((folder / "lines").string(), 1 << 20);
  std::string line;
  std::vector<std::string> lines;
  while (reader.next(&line, cli::LineReader::Wait::kForLine)) lines.push_back(line);
  EXPECT_EQ(lines, (std::vector<std::string>{"a", "", lengthy, "end"}));
  EXPECT_FALSE(reader.next(&line, cli::LineReader::Wait::kNever));
  cli::LineReader narrow((folder / "lines").string(), 1000);
  ASSERT_TRUE(narrow.next(&line, cli::LineReader::Wait::kForLine));
  ASSERT_TRUE(narrow.next(&line, cli::LineReader::Wait::kForLine));
  EXPECT_THROW(narrow.next(&line, cli::LineReader::Wait::kForLine), Error);
}

}  // namespace
}  // namespace omniphi

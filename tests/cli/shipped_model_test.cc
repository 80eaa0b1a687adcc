// The model that is taken when none is named.
#include "cli/shipped_model.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "testing/program.h"

namespace omniphi {
namespace {

namespace fs = std::filesystem;
using testing::expect_failure;
using testing::TempFolder;

// A copy of the program in a folder of its own, with `command` run on it.
class Installed {
 public:
  Installed() {
    fs::create_directories(folder_ / "prefix/bin");
    fs::copy_file(OMNIPHI_BINARY, program());
  }

  std::string program() const { return (folder_ / "prefix/bin/omniphi").string(); }
  fs::path at(const std::string& name) const { return folder_.path() / "prefix" / name; }

  // The tests' tiny checkpoint stands for the shipped model.
  void put_model(const std::string& parent) const {
    fs::create_directories(at(parent));
    fs::create_directory_symlink(testing::tiny_checkpoint(), at(parent) / "nano");
  }

  testing::ProgramResult run(const std::vector<std::string>& arguments, const std::string& input = "") const {
    return testing::run_this(program(), arguments, input);
  }

 private:
  TempFolder folder_;
};

TEST(ShippedModel, TheSecondFamilyHasOneByName) {
  const Installed installed;
  fs::create_directories(installed.at("share/omniphi/models"));
  fs::create_directory_symlink(fs::path(OMNIPHI_SOURCE_DIR) / "models/nano-phi3v",
                               installed.at("share/omniphi/models/nano-phi3v"));
  const testing::ProgramResult result = installed.run({"inspect", "--model", "nano-phi3v"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_NE(result.out.find("Phi-3.5-vision"), std::string::npos) << result.out;
  expect_failure(installed.run({"inspect", "--model", "nano"}), 4, {"the shipped model nano", "models/nano"});
}

TEST(ShippedModel, IsFoundBesideTheProgramInstalledAndInACheckout) {
  for (const char* parent : {"bin/models", "share/omniphi/models", "models"}) {
    const Installed installed;
    installed.put_model(parent);
    const testing::ProgramResult result = installed.run({"inspect"});
    EXPECT_EQ(result.exit_code, 0) << parent << result.err;
    EXPECT_NE(result.out.find((installed.at(parent) / "nano").string()), std::string::npos) << result.out;
  }
}

TEST(ShippedModel, IsFoundThroughALinkToTheProgram) {
  const Installed installed;
  installed.put_model("share/omniphi/models");
  fs::create_symlink(installed.program(), installed.at("link"));
  const testing::ProgramResult result = testing::run_this(installed.at("link").string(), {"inspect", "--json"});
  EXPECT_TRUE(result.json().at("accepted").get<bool>());
}

TEST(ShippedModel, AVariableDecidesAlone) {
  const Installed installed;
  installed.put_model("models");
  installed.put_model("data/models");
  ASSERT_EQ(setenv("OMNIPHI_DATA", installed.at("data").c_str(), 1), 0);
  const testing::ProgramResult found = installed.run({"inspect"});
  ASSERT_EQ(setenv("OMNIPHI_DATA", installed.at("nowhere").c_str(), 1), 0);
  const testing::ProgramResult absent = installed.run({"inspect"});
  unsetenv("OMNIPHI_DATA");
  EXPECT_NE(found.out.find(installed.at("data/models/nano").string()), std::string::npos) << found.out << found.err;
  expect_failure(absent, 4, {installed.at("nowhere/models/nano").string(), "--model"});
  EXPECT_EQ(absent.err.find(installed.at("models/nano").string()), std::string::npos) << absent.err;
}

TEST(ShippedModel, WhereItIsMissingEveryPlaceIsNamed) {
  const Installed installed;
  const std::vector<std::string> places = {installed.at("bin/models/nano").string(),
                                           installed.at("share/omniphi/models/nano").string(),
                                           installed.at("models/nano").string(), "--model", "OMNIPHI_DATA"};
  const std::string out = installed.at("out.safetensors").string();
  const std::vector<std::vector<std::string>> commands = {{"run", "hi"},
                                                          {"run"},
                                                          {"run", "--batch", "-"},
                                                          {"score", "hi"},
                                                          {"inspect"},
                                                          {"tokenize"},
                                                          {"process", "hi", "--out", out},
                                                          {"bench"},
                                                          {"run", "--model", "nano", "hi"}};
  for (const std::vector<std::string>& command : commands) expect_failure(installed.run(command), 4, places);
  expect_failure(installed.run({"verify", "dump.json"}), 2, {"--model"});
}

TEST(ShippedModel, EveryVerbTakesItAndRunSaysSo) {
  const Installed installed;
  installed.put_model("models");
  const std::vector<std::string> flags = {"hi", "--max-tokens", "4", "--ignore-eos", "--json"};
  const auto with = [&](const std::string& verb, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), verb);
    return installed.run(arguments);
  };
  const testing::ProgramResult answer = with("run", flags);
  EXPECT_EQ(answer.json().at("token_ids"), testing::run_tiny("run", flags).json().at("token_ids"));
  EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  for (const char* part : {"nano", "--model"}) EXPECT_NE(answer.err.find(part), std::string::npos) << answer.err;

  std::vector<std::string> named = flags;
  named.insert(named.begin(), {"--model", "nano"});
  const testing::ProgramResult asked = with("run", named);
  EXPECT_EQ(asked.json().at("token_ids"), answer.json().at("token_ids"));
  EXPECT_EQ(asked.err, "");

  const std::string out = installed.at("out.safetensors").string();
  EXPECT_EQ(with("score", {"hi"}).exit_code, 0);
  EXPECT_EQ(with("process", {"hi", "--out", out}).exit_code, 0);
  EXPECT_EQ(installed.run({"tokenize"}, "\"hi\"\n").exit_code, 0);
  EXPECT_EQ(with("plan", {"--model", "nano", "--json"}).json().at("model"), "nano");
  const testing::ProgramResult bench =
      with("bench", {"--prompt-tokens", "4", "--answer-tokens", "2", "--repeat", "1", "--json"});
  EXPECT_EQ(bench.json().at("model"), "nano");
}

}  // namespace
}  // namespace omniphi

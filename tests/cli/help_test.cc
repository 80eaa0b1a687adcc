// Help, completions and the man page: made from one definition, complete, and accepted by the shells that are here.
#include <gtest/gtest.h>

#include "cli/app.h"
#include "cli/cli_tree.h"
#include "testing/program.h"

namespace omniphi {
namespace {

using testing::expect_failure;
using testing::run_program;

std::vector<cli::VerbText> verbs() { return cli::describe_verbs(cli::make_application()->root); }

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << "lacks: " << part;
}

TEST(Help, EveryVerbOfTheProgramIsThere) {
  std::vector<std::string> names;
  for (const cli::VerbText& verb : verbs()) names.push_back(verb.name);
  EXPECT_EQ(names, (std::vector<std::string>{"run", "demo", "score", "tokenize", "process", "inspect", "plan", "verify",
                                             "synth", "bench", "completion", "man"}));
}

TEST(Help, EveryVerbShowsItsFlagsAndExamples) {
  for (const cli::VerbText& verb : verbs()) {
    const testing::ProgramResult help = run_program({verb.name, "--help"});
    EXPECT_EQ(help.exit_code, 0) << verb.name;
    EXPECT_EQ(help.err, "") << verb.name;
    expect_contains(help.out, "Examples:");
    expect_contains(help.out, "omniphi " + verb.name);
    for (const cli::FlagText& flag : verb.flags) {
      EXPECT_FALSE(flag.description.empty()) << verb.name << (flag.names.empty() ? "" : flag.names[0]);
      for (const std::string& name : flag.names) expect_contains(help.out, name);
    }
  }
}

TEST(Help, TheProgramNamesItsVerbsExitCodesAndVersion) {
  const testing::ProgramResult help = run_program({"--help"});
  EXPECT_EQ(help.exit_code, 0);
  for (const cli::VerbText& verb : verbs()) expect_contains(help.out, verb.summary);
  expect_contains(help.out, "Exit codes");
  const testing::ProgramResult version = run_program({"--version"});
  EXPECT_EQ(version.exit_code, 0);
  EXPECT_EQ(version.out.rfind("omniphi ", 0), 0u) << version.out;
}

TEST(Help, NoVerbOrAnUnknownOneExits2) {
  expect_failure(run_program({}), 2, {"--help"});
  expect_failure(run_program({"sing"}), 2, {"sing"});
}

TEST(Completion, KnowsEveryVerbAndFlag) {
  for (const char* shell : {"bash", "zsh", "fish"}) {
    const testing::ProgramResult result = run_program({"completion", shell});
    EXPECT_EQ(result.exit_code, 0);
    for (const cli::VerbText& verb : verbs()) {
      expect_contains(result.out, verb.name);
      for (const cli::FlagText& flag : verb.flags) {
        for (const std::string& name : flag.names) {
          expect_contains(result.out, std::string(shell) != "fish" ? name
                                      : name[1] == '-'             ? "-l " + name.substr(2)
                                                                   : "-s " + name.substr(1));
        }
      }
    }
    expect_contains(result.out, "fp32 bf16");  // the values of a choice
  }
  expect_failure(run_program({"completion", "tcsh"}), 2, {"tcsh"});
}

// What the shell says when it reads the text; -1 when the shell isn't installed.
int shell_status(const std::string& shell, const std::string& arguments, const std::string& text) {
  if (std::system(("command -v " + shell + " > /dev/null 2>&1").c_str()) != 0) return -1;
  const testing::TempFolder folder;
  folder.write("script", text);
  return std::system((shell + " " + arguments + " '" + (folder / "script").string() + "'").c_str());
}

TEST(Completion, ShellsAcceptIt) {
  const std::pair<const char*, const char*> shells[] = {{"bash", "-n"}, {"zsh", "-n"}, {"fish", "--no-execute"}};
  for (const auto& [shell, check] : shells) {
    EXPECT_LE(shell_status(shell, check, run_program({"completion", shell}).out), 0) << shell;
  }
}

TEST(Completion, BashCompletesVerbsFlagsAndChoices) {
  const std::string script = run_program({"completion", "bash"}).out;
  const auto complete = [&](const std::string& words, int at) {
    return shell_status("bash", "",
                        script + "COMP_WORDS=(" + words + "); COMP_CWORD=" + std::to_string(at) +
                            "\n_omniphi; [[ \" ${COMPREPLY[*]} \" == *\" $WANTED \"* ]]\n");
  };
  ASSERT_EQ(setenv("WANTED", "score", 1), 0);
  EXPECT_LE(complete("omniphi sc", 1), 0);
  ASSERT_EQ(setenv("WANTED", "--kv-dtype", 1), 0);
  EXPECT_LE(complete("omniphi run --kv", 2), 0);
  ASSERT_EQ(setenv("WANTED", "bf16", 1), 0);
  EXPECT_LE(complete("omniphi run --kv-dtype b", 3), 0);
  EXPECT_NE(complete("omniphi run --kv-dtype f", 3), 0);
  unsetenv("WANTED");
}

TEST(Man, HasEverySectionVerbAndFlag) {
  const testing::ProgramResult page = run_program({"man"});
  EXPECT_EQ(page.exit_code, 0);
  EXPECT_EQ(page.out.rfind(".TH OMNIPHI 1", 0), 0u);
  for (const char* section : {"NAME", "SYNOPSIS", "DESCRIPTION", "VERBS", "EXIT STATUS", "ENVIRONMENT"}) {
    expect_contains(page.out, std::string(".SH ") + section);
  }
  for (const cli::VerbText& verb : verbs()) expect_contains(page.out, ".SS omniphi " + verb.name);
  expect_contains(page.out, "\\-\\-max\\-image\\-crops");
}

}  // namespace
}  // namespace omniphi

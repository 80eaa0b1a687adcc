// Runs the built program as a user does, and keeps what it says.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testing/golden.h"
#include "testing/temp_folder.h"

namespace omniphi::testing {

struct ProgramResult {
  int exit_code = -1;
  std::string out, err;

  // Standard output as the one line of JSON that --json promises.
  nlohmann::json json() const {
    EXPECT_EQ(exit_code, 0) << err;
    EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 1) << out;
    EXPECT_TRUE(!out.empty() && out.back() == '\n');
    for (const char c : out) EXPECT_TRUE(static_cast<unsigned char>(c) < 0x80) << "not ASCII: " << out;
    return nlohmann::json::parse(out);
  }
};

inline std::string shell_quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Runs a program with these arguments and this text on standard input, which is never a terminal.
inline ProgramResult run_this(const std::string& program, const std::vector<std::string>& arguments,
                              const std::string& input = "") {
  const TempFolder folder;
  folder.write("input", input);
  std::string command = shell_quoted(program);
  for (const std::string& argument : arguments) command += " " + shell_quoted(argument);
  command += " < " + shell_quoted((folder / "input").string()) + " 2> " + shell_quoted((folder / "errors").string());
  ProgramResult result;
  FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("can't run " + command);
  std::array<char, 65536> chunk;
  for (size_t count; (count = std::fread(chunk.data(), 1, chunk.size(), pipe)) > 0;)
    result.out.append(chunk.data(), count);
  const int status = ::pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  result.err = read_test_file((folder / "errors").string());
  return result;
}

// omniphi, the same way.
inline ProgramResult run_program(const std::vector<std::string>& arguments, const std::string& input = "") {
  return run_this(OMNIPHI_BINARY, arguments, input);
}

inline std::string tiny_checkpoint() { return golden_root() + "/checkpoint"; }

// "VERB --model TINY ARGUMENTS..."
inline ProgramResult run_tiny(const std::string& verb, std::vector<std::string> arguments,
                              const std::string& input = "") {
  arguments.insert(arguments.begin(), {verb, "--model", tiny_checkpoint()});
  return run_program(arguments, input);
}

// The exit code, and what standard error must name.
inline void expect_failure(const ProgramResult& result, int exit_code, const std::vector<std::string>& named) {
  EXPECT_EQ(result.exit_code, exit_code) << result.err << result.out;
  EXPECT_EQ(result.out, "");
  for (const std::string& part : named)
    EXPECT_NE(result.err.find(part), std::string::npos) << result.err << "\n: " << part;
}

}  // namespace omniphi::testing

// The command line's definition as plain data: what completions and the man page are made from.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace omniphi::cli {

struct FlagText {
  std::vector<std::string> names;  // "--model", "-m"; empty for a positional argument
  std::string value;               // what stands for its value ("FILE"); empty for a switch
  std::string description;
};

struct VerbText {
  std::string name;
  std::string summary;
  std::string examples;
  std::vector<FlagText> flags;
};

// Every verb and flag that is not hidden, in the order of `--help`.
std::vector<VerbText> describe_verbs(const CLI::App& root);

}  // namespace omniphi::cli

// The flags that say how an answer is chosen, and when it ends.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "runtime/engine.h"

namespace omniphi::cli {

struct GenerationFlags {
  GenerationOptions options;
  std::vector<std::string> logit_bias;  // "ID=VALUE"
};

void add_generation_flags(CLI::App* verb, GenerationFlags* flags);

// Adds the same names so that each is refused with kUsage: "VERB generates nothing".
void refuse_generation_flags(CLI::App* verb);

// Throws kUsage naming the flag that is out of range. Ids are held against the vocabulary later, when it is known.
GenerationOptions generation_options(const GenerationFlags& flags);

}  // namespace omniphi::cli

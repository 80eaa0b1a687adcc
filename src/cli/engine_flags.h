// The flags that say which model runs, and how.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "runtime/engine.h"

namespace omniphi::cli {

struct EngineFlags {
  std::string model;
  int threads = 0;
  int64_t prefill_chunk = 512;
  std::string kv_dtype;  // empty: follows compute_dtype
  std::string compute_dtype = "fp32";
};

// --model for model_or_shipped(), which takes the shipped model when it stays empty.
void add_model_flag(CLI::App* verb, std::string* model);
// The same, but somebody has to say which.
void add_required_model_flag(CLI::App* verb, std::string* model);
// --seed N; unlike CLI11's own reading of unsigned numbers it refuses a minus.
CLI::Option* add_seed_flag(CLI::App* verb, uint64_t* seed, const std::string& description);

void add_engine_flags(CLI::App* verb, EngineFlags* flags);

// Throws kUsage naming the flag that is out of range.
EngineOptions engine_options(const EngineFlags& flags);

}  // namespace omniphi::cli

// `omniphi run --batch`: many requests, one process.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cli/input_flags.h"
#include "runtime/engine.h"
#include "runtime/prepare.h"
#include "runtime/session.h"

namespace omniphi::cli {

inline constexpr int kDefaultBatchSize = 8;

struct BatchFlags {
  std::optional<std::string> file;
  std::optional<int> size;
};

void add_batch_flags(CLI::App* verb, BatchFlags* flags);

// Throws kUsage when other flags say what a request says, on a size out of range, and on a size without a batch.
void check_batch_flags(const BatchFlags& batch, const InputFlags& input);

struct BatchSetup {
  std::string file;  // "-": standard input
  int batch_size = kDefaultBatchSize;
  PrepareOptions prepare;
  GenerationOptions generation;  // a request's own max_tokens goes before
};

// Reads a request a line, a list of messages or {"messages": [...], "tools": [...], "id": ANY, "max_tokens": N,
// "max_image_crops": N}, and prints a line of JSON for each, in order, flushed: answer_json() behind the request's
// `id`, or
// {"id", "line", "error": {kind, where, found, expected, remedy}} where the request can't be answered. Lines of white
// space are skipped. Up to `batch_size` requests run together; one that has come never waits for one that has not.
// `open` makes the session, once the file is there. Returns 3 when a line was refused, else 0. Throws kInput when the
// file can't be read, kUsage as prepare_input() does, and kInternal as the engine does.
int run_batch(const BatchSetup& setup, const std::function<std::unique_ptr<Session>()>& open);

}  // namespace omniphi::cli

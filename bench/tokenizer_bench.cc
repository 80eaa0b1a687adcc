// Encodes a file with one thread and prints the speed; bench/tokenizer_bench.py compares it with other libraries.
//
//   tokenizer_bench FOLDER FILE [ROUNDS]
//   tokenizer_bench FOLDER --adversarial       megabytes of one letter, of spaces, of combining marks
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "text/tokenizer.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The best of some rounds: what the machine can do when nothing disturbs it.
void measure(const omniphi::Tokenizer& tokenizer, const std::string& name, const std::string& text, int rounds) {
  std::vector<int32_t> ids;
  double best = 1e30;
  for (int round = 0; round < rounds; ++round) {
    ids.clear();
    const auto start = Clock::now();
    tokenizer.encode_special(text, &ids);  // what the other libraries' encode does
    best = std::min(best, seconds_since(start));
  }
  std::printf("%s bytes %zu tokens %zu best_seconds %.6f MB/s %.1f\n", name.c_str(), text.size(), ids.size(), best,
              static_cast<double>(text.size()) / best / 1e6);
}

std::string repeat(const std::string& unit, size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += unit;
  return text;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 3) {
    std::fprintf(stderr, "usage: tokenizer_bench FOLDER FILE|--adversarial [ROUNDS]\n");
    return 2;
  }
  const auto start = Clock::now();
  const omniphi::Tokenizer tokenizer = omniphi::Tokenizer::load(argv[1]);
  std::printf("load_seconds %.3f\n", seconds_since(start));
  const int rounds = argc > 3 ? std::atoi(argv[3]) : 5;
  if (std::string(argv[2]) == "--adversarial") {
    for (const auto& [name, unit] : {std::pair<const char*, const char*>{"letter", "a"},
                                     {"capital", "A"},
                                     {"spaces", " "},
                                     {"newlines", "\n"},
                                     {"marks", "\xCC\x81"},
                                     {"mark_capital",
                                      "\xCC\x81"
                                      "A"},
                                     {"han", "\xE4\xB8\xAD"},
                                     {"punctuation", "=-"},
                                     {"apostrophes", "'s"},
                                     {"control", "<|end|>"}}) {
      measure(tokenizer, std::string(name) + "_1MB", repeat(unit, 1000000), rounds);
      measure(tokenizer, std::string(name) + "_8MB", repeat(unit, 8000000), rounds);
    }
    return 0;
  }
  measure(tokenizer, argv[2], omniphi::read_file(argv[2], size_t{1} << 30, omniphi::ErrorKind::kInput), rounds);
  return 0;
} catch (const omniphi::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return omniphi::exit_code(error.kind());
}

// omniphi synth: a checkpoint of random weights.
#include <algorithm>
#include <iostream>

#include "base/error.h"
#include "cli/app.h"
#include "cli/engine_flags.h"
#include "cli/json_out.h"
#include "cli/report.h"
#include "io/json.h"
#include "models/registry/registry.h"

namespace omniphi::cli {
namespace {

struct SynthFlags {
  std::string preset = "phi4mm";
  std::string out;
  uint64_t seed = 0;
  bool sparse = false;
  std::string dtype = "bf16";
  std::string layout = "original";
  std::string tokenizer;
  double shard_gb = 5;
  int threads = 0;
  bool json = false;
};

DType dtype_of(const std::string& name) {
  if (name == "bf16") return DType::kBF16;
  if (name == "fp16") return DType::kF16;
  if (name == "fp32") return DType::kF32;
  throw Error(ErrorKind::kUsage, "--dtype", show_text(name), "bf16, fp16 or fp32");
}

SynthRequest synth_request(const ModelFamily& family, const SynthFlags& flags) {
  SynthRequest request;
  request.preset = flags.preset;
  request.layout = flags.layout;
  if (std::find(family.layouts.begin(), family.layouts.end(), flags.layout) == family.layouts.end()) {
    std::string known;
    for (const std::string_view layout : family.layouts) known += (known.empty() ? "" : " or ") + std::string(layout);
    throw Error(ErrorKind::kUsage, "--layout", show_text(flags.layout), known + ", the layouts of " + family.title);
  }
  SynthFileOptions& options = request.files;
  options.fill = flags.sparse ? Fill::kSparse : Fill::kRandom;
  options.seed = flags.seed;
  options.dtype = dtype_of(flags.dtype);
  if (!(flags.shard_gb > 0 && flags.shard_gb <= 1e6)) {
    throw Error(ErrorKind::kUsage, "--shard-gb", std::to_string(flags.shard_gb), "above 0");
  }
  options.max_shard_bytes = static_cast<uint64_t>(flags.shard_gb * 1e9);
  if (flags.threads < 0 || flags.threads > 1024) {
    throw Error(ErrorKind::kUsage, "--threads", std::to_string(flags.threads), "1 to 1024, or 0 for all cores");
  }
  options.threads = flags.threads;
  options.tokenizer = flags.tokenizer;
  return request;
}

int synth(const SynthFlags& flags) {
  const ModelFamily& family = family_of_preset(flags.preset);
  const SynthRequest request = synth_request(family, flags);
  report_progress("writing " + flags.out);
  const SynthSummary summary = family.synthesize(request, flags.out);
  if (flags.json) {
    print_json_line(OrderedJson{{"out", flags.out},
                                {"tensors", summary.tensors},
                                {"parameters", summary.parameters},
                                {"bytes", summary.bytes},
                                {"files", summary.files}});
    return 0;
  }
  std::cout << flags.out << ": " << summary.tensors << " tensors, " << summary.parameters << " parameters, "
            << summary.bytes << " bytes in " << summary.files << (summary.files == 1 ? " file\n" : " files\n");
  return 0;
}

}  // namespace

void add_synth(CLI::App* root, Action* action) {
  auto flags = std::make_shared<SynthFlags>();
  CLI::App* verb =
      add_verb(root, "synth", "Write a checkpoint that nobody has trained, with the released names and shapes",
               "  omniphi synth --preset phi4mm --out random            (11 GB)\n"
               "  omniphi synth --preset phi3.5v --out shapes --sparse  (names and shapes; takes no room on disk)\n"
               "  omniphi synth --preset tiny --layout native --dtype fp32 --seed 7 --out tiny");
  verb->add_option("--preset", flags->preset, "Built-in sizes: " + preset_names())
      ->capture_default_str()
      ->type_name("NAME");
  verb->add_option("--out,-o", flags->out, "Folder to write; it must be empty or not exist")
      ->required()
      ->type_name("DIR");
  add_seed_flag(verb, &flags->seed, "Seed of the weights (default 0)");
  verb->add_flag("--sparse", flags->sparse, "Zeros that take no room on disk instead of random weights");
  verb->add_option("--dtype", flags->dtype, "Type of the weights")->capture_default_str()->type_name("bf16|fp16|fp32");
  verb->add_option("--layout", flags->layout,
                   "Names as in the original release, or as transformers writes them (native: Phi-4-multimodal alone)")
      ->capture_default_str()
      ->type_name("original|native");
  verb->add_option("--tokenizer", flags->tokenizer, "Folder to copy tokenizer files from (default: a synthetic one)")
      ->type_name("DIR");
  verb->add_option("--shard-gb", flags->shard_gb, "Largest weight file in GB")->capture_default_str()->type_name("GB");
  verb->add_option("--threads", flags->threads, "Threads (default: all cores)")->type_name("N");
  verb->add_flag("--json", flags->json, "One line of JSON on standard output");
  verb->callback([flags, action] { *action = [flags] { return synth(*flags); }; });
}

}  // namespace omniphi::cli

// omniphi synth: a checkpoint of random weights.
#include <iostream>

#include "base/error.h"
#include "cli/app.h"
#include "cli/engine_flags.h"
#include "cli/json_out.h"
#include "cli/report.h"
#include "io/json.h"
#include "models/phi4mm/checkpoint/synth.h"

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

phi4mm::SynthOptions synth_options(const SynthFlags& flags) {
  phi4mm::SynthOptions options;
  options.fill = flags.sparse ? phi4mm::Fill::kSparse : phi4mm::Fill::kRandom;
  options.seed = flags.seed;
  options.dtype = dtype_of(flags.dtype);
  if (flags.layout != "original" && flags.layout != "native") {
    throw Error(ErrorKind::kUsage, "--layout", show_text(flags.layout), "original or native");
  }
  options.layout = flags.layout == "native" ? phi4mm::Layout::kNative : phi4mm::Layout::kOriginal;
  if (!(flags.shard_gb > 0 && flags.shard_gb <= 1e6)) {
    throw Error(ErrorKind::kUsage, "--shard-gb", std::to_string(flags.shard_gb), "above 0");
  }
  options.max_shard_bytes = static_cast<uint64_t>(flags.shard_gb * 1e9);
  if (flags.threads < 0 || flags.threads > 1024) {
    throw Error(ErrorKind::kUsage, "--threads", std::to_string(flags.threads), "1 to 1024, or 0 for all cores");
  }
  options.threads = flags.threads;
  options.tokenizer = flags.tokenizer;
  return options;
}

int synth(const SynthFlags& flags) {
  const phi4mm::SynthOptions options = synth_options(flags);
  const phi4mm::Config config = phi4mm::preset_config(flags.preset);
  report_progress("writing " + flags.out);
  const phi4mm::SynthSummary summary = phi4mm::synthesize(config, flags.out, options);
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
               "  omniphi synth --preset phi4mm --out shapes --sparse   (names and shapes; takes no room on disk)\n"
               "  omniphi synth --preset tiny --layout native --dtype fp32 --seed 7 --out tiny");
  verb->add_option("--preset", flags->preset, "phi4mm (the release) or tiny")->capture_default_str()->type_name("NAME");
  verb->add_option("--out,-o", flags->out, "Folder to write; it must be empty or not exist")
      ->required()
      ->type_name("DIR");
  add_seed_flag(verb, &flags->seed, "Seed of the weights (default 0)");
  verb->add_flag("--sparse", flags->sparse, "Zeros that take no room on disk instead of random weights");
  verb->add_option("--dtype", flags->dtype, "Type of the weights")->capture_default_str()->type_name("bf16|fp16|fp32");
  verb->add_option("--layout", flags->layout, "Names as in the original release or as transformers writes them")
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

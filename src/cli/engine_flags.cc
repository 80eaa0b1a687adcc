#include "cli/engine_flags.h"

#include <charconv>

#include "base/error.h"
#include "io/json.h"

namespace omniphi::cli {

void add_model_flag(CLI::App* verb, std::string* model) {
  verb->add_option("--model,-m", *model,
                   "Model folder, or a repository id that is looked up in the Hugging Face cache (HF_HOME); default: "
                   "nano, the small model that comes with omniphi")
      ->type_name("MODEL");
}

void add_required_model_flag(CLI::App* verb, std::string* model) {
  verb->add_option("--model,-m", *model,
                   "Model folder, a repository id that is looked up in the Hugging Face cache (HF_HOME), or nano")
      ->required()
      ->type_name("MODEL");
}

CLI::Option* add_seed_flag(CLI::App* verb, uint64_t* seed, const std::string& description) {
  const auto read = [seed](const std::string& text) {
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), *seed);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
      throw Error(ErrorKind::kUsage, "--seed", show_text(text), "0 to 18446744073709551615");
    }
  };
  return verb->add_option_function<std::string>("--seed", read, description)->type_name("N");
}

void add_engine_flags(CLI::App* verb, EngineFlags* flags) {
  verb->add_option("--threads", flags->threads, "Threads (default: all cores that the process may use)")
      ->type_name("N");
  verb->add_option("--prefill-chunk", flags->prefill_chunk,
                   "Prompt tokens that run together, 1 or more; changes memory and speed, never a bit of the result")
      ->capture_default_str()
      ->type_name("N");
  verb->add_option("--kv-dtype", flags->kv_dtype, "Keys and values are kept as fp32 or bf16 (default: --compute-dtype)")
      ->type_name("fp32|bf16");
  verb->add_option("--compute-dtype", flags->compute_dtype, "Type of activations; only fp32 exists in this version")
      ->type_name("fp32");
}

EngineOptions engine_options(const EngineFlags& flags) {
  EngineOptions options;
  if (flags.threads < 0 || flags.threads > 1024) {
    throw Error(ErrorKind::kUsage, "--threads", std::to_string(flags.threads), "1 to 1024, or 0 for all cores");
  }
  if (flags.prefill_chunk < 1) {
    throw Error(ErrorKind::kUsage, "--prefill-chunk", std::to_string(flags.prefill_chunk), "1 or more");
  }
  if (flags.compute_dtype == "bf16") {
    throw Error(ErrorKind::kUsage, "--compute-dtype", "bf16", "fp32",
                "this version computes in fp32 only, whatever the type of the weights");
  }
  if (flags.compute_dtype != "fp32") {
    throw Error(ErrorKind::kUsage, "--compute-dtype", show_text(flags.compute_dtype), "fp32");
  }
  if (!flags.kv_dtype.empty() && flags.kv_dtype != "fp32" && flags.kv_dtype != "bf16") {
    throw Error(ErrorKind::kUsage, "--kv-dtype", show_text(flags.kv_dtype), "fp32 or bf16");
  }
  options.threads = flags.threads;
  options.prefill_chunk = flags.prefill_chunk;
  options.kv_dtype = flags.kv_dtype == "bf16" ? DType::kBF16 : DType::kF32;
  return options;
}

}  // namespace omniphi::cli

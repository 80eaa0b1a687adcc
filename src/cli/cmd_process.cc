// omniphi process: the processor's tensors into a safetensors file.
#include <algorithm>
#include <cstring>
#include <iostream>

#include "cli/app.h"
#include "cli/engine_flags.h"
#include "cli/input_flags.h"
#include "cli/json_out.h"
#include "cli/processed_tensors.h"
#include "cli/report.h"
#include "cli/shipped_model.h"
#include "io/model_path.h"
#include "io/safetensors_writer.h"
#include "models/registry/registry.h"
#include "runtime/prepare.h"

namespace omniphi::cli {
namespace {

struct ProcessFlags {
  InputFlags input;
  std::string model;
  std::string out;
  bool json = false;
};

int process(const ProcessFlags& flags) {
  check_input_flags(flags.input);
  if (flags.input.empty()) {
    throw Error(ErrorKind::kUsage, "omniphi process", "nothing to process",
                "a prompt, media, --messages or --token-ids");
  }
  const Prompt prompt = make_prompt(flags.input);
  report_warnings(prompt.warnings);
  const std::filesystem::path folder = resolve_model(model_or_shipped(flags.model));
  const ModelFamily& family = family_of_folder(folder);
  const ConfigReport report = family.open_config(folder);
  report_warnings(report.warnings);
  const Tokenizer tokenizer = Tokenizer::load(folder);

  PrepareOptions prepare;
  prepare.max_image_crops = flags.input.max_image_crops;
  prepare.reference_media = flags.input.reference_media;
  prepare.progress = report_progress;
  const ModelInput input = prepare_input(family, report.config, tokenizer, prompt, prepare);
  const ProcessedTensors tensors(input);
  write_safetensors(flags.out, tensors.views(), {{"input_mode", input_mode_name(input.mode)}});

  OrderedJson summary;
  summary["out"] = flags.out;
  summary["input_mode"] = input_mode_name(input.mode);
  for (const NamedView& tensor : tensors.views()) {
    summary["tensors"][tensor.name] =
        OrderedJson{{"shape", tensor.view.shape.extents()}, {"dtype", dtype_name(tensor.view.dtype)}};
  }
  if (flags.json) {
    print_json_line(summary);
    return 0;
  }
  std::cout << flags.out << ": input mode " << input_mode_name(input.mode) << "\n";
  for (const NamedView& tensor : tensors.views()) {
    std::cout << "  " << tensor.name << " " << tensor.view.shape.to_string() << " " << dtype_name(tensor.view.dtype)
              << "\n";
  }
  return 0;
}

}  // namespace

void add_process(CLI::App* root, Action* action) {
  auto flags = std::make_shared<ProcessFlags>();
  CLI::App* verb = add_verb(
      root, "process", "Write what the model would read (token ids, crops, masks, log-mels) to a safetensors file",
      "  omniphi process --model ./phi4mm --image chart.png \"What is shown?\" --out tensors.safetensors\n"
      "  omniphi process --model ./phi4mm --messages chat.json --out tensors.safetensors\n"
      "Needs the configuration and the tokenizer, no weights.");
  add_model_flag(verb, &flags->model);
  add_input_flags(verb, &flags->input);
  verb->add_option("--out,-o", flags->out, "File to write")->required()->type_name("FILE");
  verb->add_flag("--json", flags->json, "Say what was written as one line of JSON");
  verb->callback([flags, action] { *action = [flags] { return process(*flags); }; });
}

}  // namespace omniphi::cli

// omniphi inspect: what a model folder holds, or why it is refused.
#include <iostream>

#include "cli/app.h"
#include "cli/inspect_output.h"
#include "cli/shipped_model.h"
#include "io/model_path.h"
#include "io/reasons.h"
#include "models/registry/registry.h"

namespace omniphi::cli {
namespace {

struct InspectFlags {
  std::string model;
  bool json = false;
};

OrderedJson refusal_json(const RefusedError& error) {
  OrderedJson reasons = OrderedJson::array();
  for (const Reason& reason : error.reasons()) {
    reasons.push_back(OrderedJson{
        {"where", reason.where}, {"found", reason.found}, {"expected", reason.expected}, {"remedy", reason.remedy}});
  }
  return OrderedJson{{"accepted", false}, {"reasons", std::move(reasons)}};
}

int inspect(const InspectFlags& flags) {
  const std::filesystem::path folder = resolve_model(model_or_shipped(flags.model));
  try {
    const ModelFamily& family = family_of_folder(folder);
    const std::shared_ptr<const ModelCheckpoint> checkpoint = family.open(folder, {});
    if (flags.json) {
      OrderedJson json{{"accepted", true}};
      json.update(inspect_json(family, *checkpoint));
      print_json_line(json);
    } else {
      print_inspection(family, *checkpoint, std::cout);
    }
    return 0;
  } catch (const RefusedError& error) {
    if (flags.json) print_json_line(refusal_json(error));
    throw;  // every reason goes to standard error too
  }
}

}  // namespace

void add_inspect(CLI::App* root, Action* action) {
  auto flags = std::make_shared<InspectFlags>();
  CLI::App* verb = add_verb(root, "inspect", "Print what a model folder holds, or every reason why it is refused",
                            "  omniphi inspect --model microsoft/Phi-4-multimodal-instruct\n"
                            "  omniphi inspect microsoft/Phi-3.5-vision-instruct --json\n"
                            "Reads no weights. A refused checkpoint exits 4.");
  verb->add_option("model,--model,-m", flags->model,
                   "Model folder, or a repository id that is looked up in the Hugging Face cache (HF_HOME); default: "
                   "nano, the small model that comes with omniphi")
      ->type_name("MODEL");
  verb->add_flag("--json", flags->json, "One line of JSON on standard output");
  verb->callback([flags, action] { *action = [flags] { return inspect(*flags); }; });
}

}  // namespace omniphi::cli

// omniphi verify: our numbers beside the reference's, stage by stage.
#include <cmath>
#include <cstdio>
#include <iostream>

#include "base/error.h"
#include "cli/app.h"
#include "cli/engine_flags.h"
#include "cli/json_out.h"
#include "cli/report.h"
#include "cli/shipped_model.h"
#include "cli/verify/verify.h"

namespace omniphi::cli {
namespace {

struct VerifyFlags {
  EngineFlags engine;
  std::vector<std::string> dumps;
  double tolerance_scale = 1;
  bool json = false;
};

OrderedJson stage_json(const StageResult& stage) {
  OrderedJson json{{"stage", stage.name}, {"agrees", stage.agrees}};
  if (!stage.problem.empty()) json["problem"] = stage.problem;
  // An infinite difference means that a value was not a number; JSON has no word for it.
  json["worst_difference"] = std::isfinite(stage.worst) ? OrderedJson(stage.worst) : OrderedJson(nullptr);
  json["tolerance"] = stage.tolerance;
  json["index"] = stage.index;
  json["ours"] = std::isfinite(stage.ours) ? OrderedJson(stage.ours) : OrderedJson(nullptr);
  json["reference"] = std::isfinite(stage.reference) ? OrderedJson(stage.reference) : OrderedJson(nullptr);
  return json;
}

OrderedJson result_json(const VerifyResult& result) {
  const StageResult* first = result.first_difference();
  OrderedJson json{{"dump", result.name}, {"agrees", first == nullptr}};
  json["first_difference"] = first == nullptr ? OrderedJson(nullptr) : OrderedJson(first->name);
  json["input_mode"] = result.input_mode;
  json["prompt_tokens"] = result.prompt_tokens;
  if (!result.note.empty()) json["note"] = result.note;
  json["stages"] = OrderedJson::array();
  for (const StageResult& stage : result.stages) json["stages"].push_back(stage_json(stage));
  json["timings"] = OrderedJson{{"encode_seconds", result.timings.encode_seconds},
                                {"prefill_seconds", result.timings.prefill_seconds},
                                {"decode_seconds", result.timings.decode_seconds}};
  return json;
}

void print_result(const VerifyResult& result) {
  std::printf("%s: %s, %lld prompt tokens\n", result.name.c_str(), result.input_mode.c_str(),
              static_cast<long long>(result.prompt_tokens));
  std::printf("  %-24s %-8s %11s %11s %10s %14s %14s\n", "stage", "", "worst diff", "tolerance", "at", "ours",
              "reference");
  for (const StageResult& stage : result.stages) {
    if (!stage.problem.empty()) {
      std::printf("  %-24s DIFFERS  %s\n", stage.name.c_str(), stage.problem.c_str());
      continue;
    }
    if (stage.worst == 0) {
      std::printf("  %-24s %-8s %11s\n", stage.name.c_str(), stage.agrees ? "agrees" : "DIFFERS", "0");
      continue;
    }
    std::printf("  %-24s %-8s %11.2e %11.2e %10lld %14.6g %14.6g\n", stage.name.c_str(),
                stage.agrees ? "agrees" : "DIFFERS", stage.worst, stage.tolerance, static_cast<long long>(stage.index),
                stage.ours, stage.reference);
  }
  if (!result.note.empty()) std::printf("  %s\n", result.note.c_str());
  const StageResult* first = result.first_difference();
  if (first == nullptr) {
    std::printf("  all %zu stages agree\n", result.stages.size());
  } else {
    std::printf("  the first stage that differs: %s\n", first->name.c_str());
  }
  std::fflush(stdout);
}

int verify_dumps(const VerifyFlags& flags) {
  if (!(flags.tolerance_scale > 0 && flags.tolerance_scale <= 1e6)) {
    throw Error(ErrorKind::kUsage, "--tolerance-scale", std::to_string(flags.tolerance_scale), "above 0");
  }
  const EngineOptions options = engine_options(flags.engine);
  std::vector<ReferenceDump> dumps;
  for (const std::string& path : flags.dumps) dumps.push_back(ReferenceDump::load(path));
  Session session(model_or_shipped(flags.engine.model), options);
  report_warnings(session.warnings());
  OrderedJson list = OrderedJson::array();
  bool all_agree = true;
  for (const ReferenceDump& dump : dumps) {
    report_progress("verifying " + dump.name);
    const VerifyResult result = verify(&session, dump, flags.tolerance_scale);
    all_agree = all_agree && result.first_difference() == nullptr;
    if (flags.json) {
      list.push_back(result_json(result));
    } else {
      print_result(result);
    }
  }
  if (flags.json) print_json_line(OrderedJson{{"agrees", all_agree}, {"dumps", std::move(list)}});
  return all_agree ? 0 : exit_code(ErrorKind::kInternal);
}

}  // namespace

void add_verify(CLI::App* root, Action* action) {
  auto flags = std::make_shared<VerifyFlags>();
  CLI::App* verb =
      add_verb(root, "verify", "Compare every stage of the model with a dump of the reference",
               "  tools/dump_reference.py --model ./phi4mm --image chart.png --out chart.json \"What is shown?\"\n"
               "  omniphi verify --model ./phi4mm chart.json\n"
               "  omniphi verify --model tests/parity/phi4mm/checkpoint tests/parity/phi4mm/cases/i_tiny.json --json\n"
               "Names the first stage that differs, with the worst value, and exits 1 when there is one.");
  add_required_model_flag(verb, &flags->engine.model);
  verb->add_option("dumps,--dump", flags->dumps, "Dumps: NAME.json with NAME.safetensors beside it")
      ->required()
      ->type_name("FILE");
  add_engine_flags(verb, &flags->engine);
  verb->add_option("--tolerance-scale", flags->tolerance_scale, "Multiplies every tolerance")
      ->capture_default_str()
      ->type_name("X");
  verb->add_flag("--json", flags->json, "One line of JSON on standard output");
  verb->callback([flags, action] { *action = [flags] { return verify_dumps(*flags); }; });
}

}  // namespace omniphi::cli

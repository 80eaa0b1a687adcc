#include "cli/app.h"

#include <exception>
#include <iostream>
#include <new>

#include "base/error.h"
#include "cli/cli_tree.h"
#include "cli/report.h"
#include "io/json.h"

namespace omniphi::cli {
namespace {

// CLI11 says what it doesn't understand in one sentence; the remedy is where the flags are listed.
Error usage_error(const CLI::App& root, const CLI::ParseError& error) {
  std::string command = "omniphi";
  for (const CLI::App* verb : root.get_subcommands()) command += " " + verb->get_name();
  return Error(ErrorKind::kUsage, command, error.what(), "", command + " --help lists the flags");
}

// CLI11 would only say that a subcommand is required.
void check_verb(const CLI::App& root, const std::string& verb) {
  std::string known;
  for (const VerbText& text : describe_verbs(root)) {
    if (text.name == verb) return;
    known += (known.empty() ? "" : ", ") + text.name;
  }
  throw Error(ErrorKind::kUsage, "omniphi", "the verb " + show_text(verb), known, "omniphi --help says what they do");
}

int parse_and_run(Application* app, int argc, const char* const* argv, std::ostream& err) {
  if (argc > 1 && argv[1][0] != '-') check_verb(app->root, argv[1]);
  try {
    app->root.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app->root.exit(success, std::cout, err);  // --help and --version
  } catch (const CLI::ParseError& error) {
    throw usage_error(app->root, error);
  }
  const int code = app->action ? app->action() : exit_code(ErrorKind::kInternal);
  std::cout.flush();
  if (!std::cout) internal_error("standard output", "could not be written to the end");
  return code;
}

}  // namespace

CLI::App* add_verb(CLI::App* root, const std::string& name, const std::string& summary, const std::string& examples) {
  CLI::App* verb = root->add_subcommand(name, summary);
  verb->footer("Examples:\n" + examples);
  return verb;
}

std::unique_ptr<Application> make_application() {
  auto app = std::make_unique<Application>();
  app->root.set_version_flag("--version", "omniphi " OMNIPHI_VERSION, "Print the version and exit");
  app->root.require_subcommand(1);
  app->root.footer(
      "Exit codes: 0, 1 internal error, 2 usage, 3 input, 4 checkpoint.\n"
      "OMNIPHI_ISA=ref|avx2|avx512 forces the instruction set of the kernels.\n"
      "\"omniphi VERB --help\" shows the flags of a verb with examples.");
  add_run(&app->root, &app->action);
  add_demo(&app->root, &app->action);
  add_score(&app->root, &app->action);
  add_tokenize(&app->root, &app->action);
  add_process(&app->root, &app->action);
  add_inspect(&app->root, &app->action);
  add_plan(&app->root, &app->action);
  add_verify(&app->root, &app->action);
  add_synth(&app->root, &app->action);
  add_bench(&app->root, &app->action);
  add_completion(&app->root, &app->action);
  add_man(&app->root, &app->action);
  return app;
}

int run_application(int argc, const char* const* argv, std::ostream& err) {
  try {
    return parse_and_run(make_application().get(), argc, argv, err);
  } catch (const Error& error) {
    report_error(error, err);
    return exit_code(error.kind());
  } catch (const std::bad_alloc&) {
    report_error(
        Error(ErrorKind::kInternal, "memory", "the system gives no more",
              "enough for the weights, the KV cache and the activations", "omniphi plan shows what a prompt takes"),
        err);
  } catch (const std::exception& error) {
    report_error(Error(ErrorKind::kInternal, "omniphi", error.what(), "", "this is a bug: please report it"), err);
  }
  return exit_code(ErrorKind::kInternal);
}

}  // namespace omniphi::cli

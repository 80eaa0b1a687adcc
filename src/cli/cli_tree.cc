#include "cli/cli_tree.h"

namespace omniphi::cli {
namespace {

FlagText describe_flag(const CLI::Option& option) {
  FlagText flag;
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  if (option.get_items_expected_max() > 0) {
    flag.value = option.get_type_name().empty() ? "VALUE" : option.get_type_name();
  }
  flag.description = option.get_description();
  return flag;
}

}  // namespace

std::vector<VerbText> describe_verbs(const CLI::App& root) {
  std::vector<VerbText> verbs;
  for (const CLI::App* app : root.get_subcommands([](const CLI::App* verb) { return !verb->get_group().empty(); })) {
    VerbText verb;
    verb.name = app->get_name();
    verb.summary = app->get_description();
    verb.examples = app->get_footer();
    for (const CLI::Option* option : app->get_options()) {
      if (!option->get_group().empty()) verb.flags.push_back(describe_flag(*option));
    }
    verbs.push_back(std::move(verb));
  }
  return verbs;
}

}  // namespace omniphi::cli

// omniphi completion: shell completions, made from the definition of the command line.
#include <iostream>
#include <sstream>

#include "base/error.h"
#include "cli/app.h"
#include "cli/cli_tree.h"
#include "io/json.h"

namespace omniphi::cli {
namespace {

bool takes_file(const FlagText& flag) { return flag.value == "FILE" || flag.value == "MODEL" || flag.value == "DIR"; }

// "fp32|bf16" as {"fp32", "bf16"}; empty when the value is not a choice.
std::vector<std::string> choices(const FlagText& flag) {
  std::vector<std::string> list;
  if (flag.value.find('|') == std::string::npos) return list;
  std::istringstream parts(flag.value);
  for (std::string part; std::getline(parts, part, '|');) list.push_back(part);
  return list;
}

std::string join(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : separator) + word;
  return text;
}

// For a text between single quotes in a shell; `also` are further characters that get a backslash.
std::string quoted(const std::string& text, const std::string& also = "") {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
      continue;
    }
    if (also.find(c) != std::string::npos) out += '\\';
    out += c;
  }
  return out + "'";
}

std::string bash_completion(const std::vector<VerbText>& verbs) {
  std::ostringstream out;
  std::vector<std::string> names;
  for (const VerbText& verb : verbs) names.push_back(verb.name);
  out << "# bash completion for omniphi\n_omniphi() {\n"
         "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" flags=\"\"\n"
         "  COMPREPLY=()\n"
         "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
         "    COMPREPLY=($(compgen -W \""
      << join(names, " ")
      << " --help --version\" -- \"$current\"))\n    return\n  fi\n  case \"${COMP_WORDS[1]}\" in\n";
  for (const VerbText& verb : verbs) {
    std::vector<std::string> flags;
    std::ostringstream values;
    for (const FlagText& flag : verb.flags) {
      flags.insert(flags.end(), flag.names.begin(), flag.names.end());
      if (flag.value.empty() || flag.names.empty()) continue;
      values << "        " << join(flag.names, "|") << ") ";
      if (takes_file(flag)) {
        values << "COMPREPLY=($(compgen -f -- \"$current\")); compopt -o filenames";
      } else if (!choices(flag).empty()) {
        values << "COMPREPLY=($(compgen -W \"" << join(choices(flag), " ") << "\" -- \"$current\"))";
      } else {
        values << ":";
      }
      values << "; return ;;\n";
    }
    out << "    " << verb.name << ")\n      flags=\"" << join(flags, " ") << "\"\n";
    if (!values.str().empty()) out << "      case \"$previous\" in\n" << values.str() << "      esac\n";
    out << "      ;;\n";
  }
  out << "  esac\n  if [[ \"$current\" == -* ]]; then COMPREPLY=($(compgen -W \"$flags\" -- \"$current\")); fi\n}\n"
         "complete -F _omniphi omniphi\n";
  return out.str();
}

std::string zsh_completion(const std::vector<VerbText>& verbs) {
  std::ostringstream out;
  out << "#compdef omniphi\n_omniphi() {\n  local -a verbs\n  verbs=(\n";
  for (const VerbText& verb : verbs) out << "    " << quoted(verb.name + ":" + verb.summary) << "\n";
  out << "  )\n  if (( CURRENT == 2 )); then\n    _describe verb verbs\n    return\n  fi\n  case $words[2] in\n";
  for (const VerbText& verb : verbs) {
    out << "    " << verb.name << ")\n      shift words; (( CURRENT-- ))\n      _arguments";
    for (const FlagText& flag : verb.flags) {
      std::string value;
      if (!flag.value.empty()) {
        value = ":" + (choices(flag).empty() ? flag.value : "value") + ":";
        if (takes_file(flag)) value += "_files";
        if (!choices(flag).empty()) value += "(" + join(choices(flag), " ") + ")";
      }
      for (const std::string& name : flag.names) {
        out << " \\\n        " << quoted("*" + name + "[" + flag.description + "]", "") << quoted(value);
      }
    }
    out << "\n      ;;\n";
  }
  out << "  esac\n}\n_omniphi \"$@\"\n";
  return out.str();
}

std::string fish_completion(const std::vector<VerbText>& verbs) {
  std::ostringstream out;
  out << "# fish completion for omniphi\ncomplete -c omniphi -f\n";
  for (const VerbText& verb : verbs) {
    out << "complete -c omniphi -n __fish_use_subcommand -a " << verb.name << " -d " << quoted(verb.summary) << "\n";
    for (const FlagText& flag : verb.flags) {
      if (flag.names.empty()) continue;
      out << "complete -c omniphi -n '__fish_seen_subcommand_from " << verb.name << "'";
      for (const std::string& name : flag.names) {
        out << (name[1] == '-' ? " -l " + name.substr(2) : " -s " + name.substr(1));
      }
      if (!flag.value.empty()) out << (takes_file(flag) ? " -r -F" : " -x");
      if (!choices(flag).empty()) out << " -a " << quoted(join(choices(flag), " "));
      out << " -d " << quoted(flag.description) << "\n";
    }
  }
  return out.str();
}

}  // namespace

void add_completion(CLI::App* root, Action* action) {
  auto shell = std::make_shared<std::string>();
  CLI::App* verb = add_verb(root, "completion", "Print completions for a shell",
                            "  omniphi completion bash > /etc/bash_completion.d/omniphi\n"
                            "  omniphi completion zsh > ~/.zfunc/_omniphi\n"
                            "  omniphi completion fish > ~/.config/fish/completions/omniphi.fish");
  verb->add_option("shell", *shell, "bash, zsh or fish")->required()->type_name("SHELL");
  verb->callback([shell, root, action] {
    *action = [shell, root] {
      const std::vector<VerbText> verbs = describe_verbs(*root);
      if (*shell == "bash") {
        std::cout << bash_completion(verbs);
      } else if (*shell == "zsh") {
        std::cout << zsh_completion(verbs);
      } else if (*shell == "fish") {
        std::cout << fish_completion(verbs);
      } else {
        throw Error(ErrorKind::kUsage, "omniphi completion", show_text(*shell), "bash, zsh or fish");
      }
      return 0;
    };
  });
}

}  // namespace omniphi::cli

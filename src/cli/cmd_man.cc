// omniphi man: the manual page, made from the definition of the command line.
#include <iostream>
#include <sstream>

#include "cli/app.h"
#include "cli/cli_tree.h"

namespace omniphi::cli {
namespace {

// Characters that troff would take for commands.
std::string roff(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

void print_flag(std::ostream& out, const FlagText& flag) {
  out << ".TP\n";
  std::string names;
  for (const std::string& name : flag.names) names += (names.empty() ? "\\fB" : ", \\fB") + roff(name) + "\\fR";
  if (!flag.value.empty()) names += (names.empty() ? "\\fI" : " \\fI") + roff(flag.value) + "\\fR";
  out << names << "\n" << roff(flag.description) << "\n";
}

void print_verb(std::ostream& out, const VerbText& verb) {
  out << ".SS omniphi " << roff(verb.name) << "\n" << roff(verb.summary) << ".\n";
  for (const FlagText& flag : verb.flags) print_flag(out, flag);
  out << ".PP\n.nf\n" << roff(verb.examples) << "\n.fi\n";
}

std::string man_page(const CLI::App& root) {
  std::ostringstream out;
  out << ".TH OMNIPHI 1 \"\" \"omniphi " OMNIPHI_VERSION "\" \"User Commands\"\n"
      << ".SH NAME\nomniphi \\- " << roff(root.get_description()) << "\n"
      << ".SH SYNOPSIS\n.B omniphi\n\\fIVERB\\fR [\\fIFLAGS\\fR]\n"
      << ".SH DESCRIPTION\nRuns Phi\\-4\\-multimodal from its released safetensors without any other program. Standard "
         "output carries the result, standard error progress and warnings.\n"
      << ".SH VERBS\n";
  for (const VerbText& verb : describe_verbs(root)) print_verb(out, verb);
  out << ".SH EXIT STATUS\n.TP\n0\nsuccess\n.TP\n1\nan internal error, or the machine failed\n.TP\n2\nflags that don't "
         "exist or contradict each other\n.TP\n3\na prompt, message list, image, audio or id list that can't be used\n"
         ".TP\n4\na model folder that is not exactly understood\n"
      << ".SH ENVIRONMENT\n.TP\n\\fBOMNIPHI_ISA\\fR\nref, avx2 or avx512: the instruction set of the kernels\n"
         ".TP\n\\fBHF_HOME\\fR, \\fBHF_HUB_CACHE\\fR\nwhere repository ids are looked up\n"
         ".TP\n\\fBOMNIPHI_DATA\\fR\nthe folder whose models/nano is the model that comes with omniphi\n";
  return out.str();
}

}  // namespace

void add_man(CLI::App* root, Action* action) {
  CLI::App* verb = add_verb(root, "man", "Print the manual page", "  omniphi man > omniphi.1 && man ./omniphi.1");
  verb->callback([root, action] {
    *action = [root] {
      std::cout << man_page(*root);
      return 0;
    };
  });
}

}  // namespace omniphi::cli

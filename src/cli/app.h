// The program: its verbs, and how an error becomes an exit code.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <iosfwd>
#include <memory>
#include <string>

namespace omniphi::cli {

// What a verb does once its flags have been read; returns the exit code.
using Action = std::function<int()>;

// The command line's definition. Completions and the man page are made from the same object.
struct Application {
  CLI::App root{"Phi-4-multimodal and Phi-3.5-vision on the CPU: text, images and audio in, text out.", "omniphi"};
  Action action;
};
std::unique_ptr<Application> make_application();

// Each adds one verb; its callback sets *action.
void add_run(CLI::App* root, Action* action);
void add_demo(CLI::App* root, Action* action);
void add_score(CLI::App* root, Action* action);
void add_tokenize(CLI::App* root, Action* action);
void add_process(CLI::App* root, Action* action);
void add_inspect(CLI::App* root, Action* action);
void add_plan(CLI::App* root, Action* action);
void add_verify(CLI::App* root, Action* action);
void add_synth(CLI::App* root, Action* action);
void add_bench(CLI::App* root, Action* action);
void add_completion(CLI::App* root, Action* action);
void add_man(CLI::App* root, Action* action);

// Adds a verb with its one-line summary and its examples, one command a line, as `--help` shows them.
CLI::App* add_verb(CLI::App* root, const std::string& name, const std::string& summary, const std::string& examples);

// Parses the arguments and runs the verb. Errors go to `err` as found, expected, remedy. Returns the process exit code:
// 0, 1 internal, 2 usage, 3 input, 4 checkpoint.
int run_application(int argc, const char* const* argv, std::ostream& err);

}  // namespace omniphi::cli

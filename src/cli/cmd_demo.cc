// omniphi demo: shipped questions about shipped media, answered where one can see whether they are right.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <utility>

#include "cli/app.h"
#include "cli/demo/questions.h"
#include "cli/engine_flags.h"
#include "cli/progress.h"
#include "cli/report.h"
#include "cli/shipped_model.h"
#include "cli/terminal/pictures.h"
#include "cli/terminal/terminal.h"
#include "cli/terminal/waveform.h"
#include "media/audio_decode.h"
#include "runtime/session.h"

namespace omniphi::cli {
namespace {

constexpr int64_t kMaxTokens = 64;
constexpr int kWaveformColumns = 60;
constexpr int kFineRows = 10;  // of a picture in real pixels: the whole demo should be seen at once

struct DemoFlags {
  EngineFlags engine;
  std::string questions;
  std::string pictures = "auto";
  bool check = false;
};

// Bold and faint letters where a person looks at them.
class Style {
 public:
  Style() {
    const TerminalFacts facts = terminal_facts();
    on_ = facts.is_terminal && !facts.no_color && !facts.term.empty() && facts.term != "dumb";
  }
  std::string bold(const std::string& text) const { return with("1", text); }
  std::string faint(const std::string& text) const { return with("2", text); }

 private:
  std::string with(const char* code, const std::string& text) const {
    return on_ ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
  }
  bool on_ = false;
};

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

std::string token_counts(const ModelInput& input) {
  const int64_t image = input.image_tokens(), audio = input.audio_tokens();
  std::string counts = std::to_string(static_cast<int64_t>(input.ids.size()) - image - audio) + " text";
  if (image > 0) counts += ", " + std::to_string(image) + " image";
  if (audio > 0) counts += ", " + std::to_string(audio) + " audio";
  return counts;
}

std::string summary_of(const ModelInput& input, const Generation& answer) {
  const Timings& timings = answer.timings;
  char line[200];
  std::snprintf(line, sizeof line, "%zu prompt tokens (%s) read in %.3f s, %zu tokens answered in %.3f s",
                input.ids.size(), token_counts(input).c_str(), timings.encode_seconds + timings.prefill_seconds,
                answer.token_ids.size(), timings.decode_seconds);
  return line;
}

class Demo {
 public:
  Demo(const DemoFlags& flags, Session* session) : flags_(flags), session_(session), pictures_(flags.pictures) {
    start_ = shell_word(program_name()) + " run";
    if (!flags.engine.model.empty()) start_ += " --model " + shell_word(flags.engine.model);
  }

  // Whether the answer is the expected one, or none is expected.
  bool ask(const DemoQuestion& question);

 private:
  void show_audio(const MediaSource& source) const;

  const DemoFlags& flags_;
  Session* session_;
  Pictures pictures_;
  Style style_;
  std::string start_;
};

void Demo::show_audio(const MediaSource& source) const {
  const AudioClip clip = decode_audio(load_media(source), source.name);
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f s", clip.seconds());
  if (flags_.pictures != "none") std::cout << draw_waveform(clip.samples, kWaveformColumns) << "  ";
  std::cout << seconds << "\n";
}

bool Demo::ask(const DemoQuestion& question) {
  std::cout << "\n" << style_.bold(question.title) << "\n$ " << command_of(start_, question) << "\n" << std::flush;
  std::vector<MediaSource> media;
  if (question.image) media.push_back(media_from_path(MediaKind::kImage, *question.image));
  if (question.audio) media.push_back(media_from_path(MediaKind::kAudio, *question.audio));
  Prompt prompt;
  add_user_turn(&prompt, media, question.text);
  PrepareOptions prepare;
  prepare.see_image = [this](const Image& image) {
    PictureRoom room;
    if (pictures_.fine()) room.rows = kFineRows;
    pictures_.show(image, room);
  };
  const ModelInput input = session_->prepare(prompt, prepare);
  if (question.audio) show_audio(media.back());

  GenerationOptions generation;
  generation.max_tokens = kMaxTokens;
  const Generation answer = session_->engine().generate(input, generation);
  std::cout << style_.bold(for_output(answer.text)) << "\n" << style_.faint(summary_of(input, answer)) << "\n";
  const bool right = !question.expect || trimmed(answer.text) == trimmed(*question.expect);
  if (flags_.check && !right) std::cout << "expected: " << for_output(*question.expect) << "\n";
  std::cout << std::flush;
  return right;
}

std::filesystem::path questions_file(const DemoFlags& flags) {
  return flags.questions.empty() ? shipped_questions() : std::filesystem::path(flags.questions);
}

int demo(const DemoFlags& flags) {
  EngineOptions options = engine_options(flags.engine);
  options.progress = progress_line();
  Pictures check(flags.pictures);  // refuses a flag before anything is opened
  const std::string model = model_or_shipped(flags.engine.model);
  const std::vector<DemoQuestion> questions = read_questions(questions_file(flags));
  const auto start = std::chrono::steady_clock::now();
  Session session(model, options);
  report_warnings(session.warnings());
  std::printf("%s, ready in %.3f s: %s, %d threads\n", short_path(model).c_str(),
              std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(),
              isa_name(session.engine().isa()), session.engine().threads());
  std::fflush(stdout);
  Demo demo(flags, &session);
  const bool hears = session.config().hears();
  const auto wrong = std::count_if(questions.begin(), questions.end(), [&](const DemoQuestion& question) {
    return (hears || !question.audio) && !demo.ask(question);
  });
  if (!hears) std::cout << "\n(left out: questions with recordings, for " << session.family().title << " can't hear)\n";
  if (!flags.check || wrong == 0) return 0;
  std::cerr << "omniphi: " << wrong << " of " << questions.size() << " answers are not the expected ones\n";
  return exit_code(ErrorKind::kInternal);
}

}  // namespace

void add_demo(CLI::App* root, Action* action) {
  auto flags = std::make_shared<DemoFlags>();
  CLI::App* verb = add_verb(root, "demo", "Ask about a picture, a recording, both together and a text, all shipped",
                            "  omniphi demo\n"
                            "  omniphi demo --model microsoft/Phi-4-multimodal-instruct\n"
                            "  omniphi demo --pictures blocks | less -R\n"
                            "Shows for each the command that asks the same, the answer, tokens and times.");
  add_model_flag(verb, &flags->engine.model);
  verb->add_option("--questions", flags->questions,
                   "JSON list of {\"title\", \"image\", \"audio\", \"text\", \"expect\"} to ask instead; paths start "
                   "from its folder")
      ->type_name("FILE");
  add_pictures_flag(verb, &flags->pictures);
  verb->add_flag("--check", flags->check, "Exit 1 when an answer is not the expected one");
  add_engine_flags(verb, &flags->engine);
  verb->callback([flags, action] { *action = [flags] { return demo(*flags); }; });
}

}  // namespace omniphi::cli

#include "cli/batch.h"

#include <chrono>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/answer_json.h"
#include "cli/json_out.h"
#include "cli/line_reader.h"
#include "cli/report.h"
#include "io/json.h"
#include "request/messages.h"

namespace omniphi::cli {
namespace {

constexpr int kMaxBatchSize = 256;

// One line on its way through. Either `error` is set or the rest is.
struct Job {
  int64_t line = 0;
  std::optional<OrderedJson> id;
  std::optional<Error> error;
  Prompt prompt;
  GenerationOptions generation;
  PrepareOptions prepare;
  ModelInput input;
  Generation answer;
};

OrderedJson error_json(const Error& error) {
  return OrderedJson{{"kind", kind_name(error.kind())},
                     {"where", error.where()},
                     {"found", error.found()},
                     {"expected", error.expected()},
                     {"remedy", error.remedy()}};
}

void print_job(const Job& job) {
  OrderedJson json;
  if (job.id) json["id"] = *job.id;
  if (job.error) {
    json["line"] = job.line;
    json["error"] = error_json(*job.error);
  } else {
    json.update(answer_json(job.input, job.answer));
  }
  print_json_line(json);
}

// A count from 1 to `most` that a request may bring for itself.
int64_t setting(const OrderedJson& request, const char* key, int64_t most, int64_t otherwise,
                const std::string& where) {
  if (!request.contains(key)) return otherwise;
  const OrderedJson& value = request[key];
  const bool good = value.is_number_integer() && value > 0 && value <= most;
  if (!good) {
    throw Error(ErrorKind::kInput, where + ": " + key, show_json(nlohmann::json(value)),
                "a number from 1 to " + std::to_string(most));
  }
  return value.get<int64_t>();
}

class BatchRun {
 public:
  BatchRun(const BatchSetup& setup, Session* session)
      : setup_(setup), session_(session), name_(setup.file == "-" ? "standard input" : setup.file) {
    if (setup.file != "-") folder_ = std::filesystem::path(setup.file).parent_path();
  }

  int run(LineReader* lines);

 private:
  bool read_jobs(LineReader* lines);
  void read_request(const std::string& line, Job* job);
  void prepare(const std::string& line, Job* job);
  void answer();
  void answer_one(Job* job);

  const BatchSetup& setup_;
  Session* session_;
  std::string name_;
  std::filesystem::path folder_;  // where relative paths of media start
  std::vector<Job> jobs_;
  int64_t line_ = 0;
  int64_t answered_ = 0, refused_ = 0;
};

// Takes `id` and the settings out of the request; what remains is a message list as --messages takes it.
void BatchRun::read_request(const std::string& line, Job* job) {
  const std::string where = name_ + ", line " + std::to_string(job->line);
  OrderedJson request = parse_request_json(line, where);
  if (request.is_object()) {
    if (request.contains("id")) job->id = std::move(request["id"]);
    GenerationOptions& generation = job->generation;
    generation.max_tokens =
        setting(request, "max_tokens", std::numeric_limits<int32_t>::max(), generation.max_tokens, where);
    int& crops = job->prepare.max_image_crops;
    crops = static_cast<int>(
        setting(request, "max_image_crops", session_->family().max_crops(session_->config()), crops, where));
    for (const char* key : {"id", "max_tokens", "max_image_crops"}) request.erase(key);
  }
  job->prompt = request_prompt(request, where, folder_);
}

void BatchRun::prepare(const std::string& line, Job* job) {
  job->generation = setup_.generation;
  job->prepare = setup_.prepare;
  try {
    read_request(line, job);
    report_warnings(job->prompt.warnings);
    job->input = session_->prepare(job->prompt, job->prepare);
    job->prompt = Prompt{};
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    job->error = error;
  }
}

// Waits for a first request, then takes those that are there. False when there are no more.
bool BatchRun::read_jobs(LineReader* lines) {
  jobs_.clear();
  std::string line;
  while (jobs_.size() < static_cast<size_t>(setup_.batch_size) &&
         lines->next(&line, jobs_.empty() ? LineReader::Wait::kForLine : LineReader::Wait::kNever)) {
    ++line_;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    jobs_.emplace_back().line = line_;
    prepare(line, &jobs_.back());
  }
  return !jobs_.empty();
}

void BatchRun::answer_one(Job* job) {
  try {
    job->answer = session_->engine().generate(job->input, job->generation);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    job->error = error;
  }
}

void BatchRun::answer() {
  std::vector<Job*> good;
  std::vector<const ModelInput*> inputs;
  std::vector<GenerationOptions> options;
  for (Job& job : jobs_) {
    if (job.error) continue;
    good.push_back(&job);
    inputs.push_back(&job.input);
    options.push_back(job.generation);
  }
  try {
    std::vector<Generation> answers = session_->engine().generate_batch(inputs, options);
    for (size_t i = 0; i < good.size(); ++i) good[i]->answer = std::move(answers[i]);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kInput) throw;
    // One of them doesn't fit the context or the memory: alone, each shows whether it is that one.
    for (Job* job : good) answer_one(job);
  }
}

int BatchRun::run(LineReader* lines) {
  const auto start = std::chrono::steady_clock::now();
  while (read_jobs(lines)) {
    answer();
    for (const Job& job : jobs_) {
      print_job(job);
      ++(job.error ? refused_ : answered_);
    }
  }
  char summary[120];
  std::snprintf(summary, sizeof summary, "%lld requests answered, %lld refused, in %.2f s",
                static_cast<long long>(answered_), static_cast<long long>(refused_),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  report_progress(summary);
  return refused_ > 0 ? exit_code(ErrorKind::kInput) : 0;
}

[[noreturn]] void contradict(const std::string& other) {
  throw Error(ErrorKind::kUsage, "--batch", "together with " + other, "one of the two", "put it into the requests");
}

}  // namespace

void add_batch_flags(CLI::App* verb, BatchFlags* flags) {
  verb->add_option("--batch", flags->file,
                   "File with a request a line: a message list, or {\"messages\": [...], \"id\": ANY, "
                   "\"max_tokens\": N}; a line of JSON answers each, in order; - is standard input")
      ->type_name("FILE");
  verb->add_option("--batch-size", flags->size,
                   "Requests of --batch that run together, 1 to 256 (default 8); never changes a bit of an answer")
      ->type_name("N");
}

void check_batch_flags(const BatchFlags& batch, const InputFlags& input) {
  if (batch.size && (*batch.size < 1 || *batch.size > kMaxBatchSize)) {
    throw Error(ErrorKind::kUsage, "--batch-size", std::to_string(*batch.size),
                "1 to " + std::to_string(kMaxBatchSize));
  }
  if (!batch.file) {
    if (batch.size) throw Error(ErrorKind::kUsage, "--batch-size", "no --batch", "--batch FILE with it");
    return;
  }
  if (input.prompt) contradict("a prompt");
  if (!input.media.empty()) contradict("--image or --audio");
  if (input.messages_file) contradict("--messages");
  if (input.token_ids_file) contradict("--token-ids");
  if (input.system) contradict("--system");
  if (input.raw_prompt) contradict("--raw-prompt");
}

int run_batch(const BatchSetup& setup, const std::function<std::unique_ptr<Session>()>& open) {
  LineReader lines(setup.file, kMaxMessageBytes);
  const std::unique_ptr<Session> session = open();
  return BatchRun(setup, session.get()).run(&lines);
}

}  // namespace omniphi::cli

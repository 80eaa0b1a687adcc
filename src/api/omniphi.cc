#include "omniphi/omniphi.h"

#include "request/messages.h"
#include "runtime/session.h"

namespace omniphi {
namespace {

EngineOptions engine_options(const LoadOptions& options) {
  EngineOptions engine;
  engine.threads = options.threads;
  engine.prefill_chunk = options.prefill_chunk;
  engine.kv_dtype = options.kv_bf16 ? DType::kBF16 : DType::kF32;
  return engine;
}

MediaSource media_source(const Medium& medium, size_t index) {
  const MediaKind kind = medium.kind == Medium::Kind::kImage ? MediaKind::kImage : MediaKind::kAudio;
  if (medium.bytes.empty()) return media_from_path(kind, medium.path);
  MediaSource source;
  source.kind = kind;
  source.name = "media[" + std::to_string(index) + "]";
  source.bytes = medium.bytes;
  return source;
}

Prompt make_prompt(const Request& request) {
  if (!request.messages_json.empty()) {
    if (!request.system.empty() || !request.text.empty() || !request.media.empty()) {
      throw Error(ErrorKind::kUsage, "Request", "messages_json together with system, media or text", "one of the two");
    }
    return parse_messages(request.messages_json, "messages_json", request.messages_folder);
  }
  Prompt prompt;
  if (!request.system.empty()) add_text_turn(&prompt, "system", request.system);
  std::vector<MediaSource> media;
  for (size_t i = 0; i < request.media.size(); ++i) media.push_back(media_source(request.media[i], i));
  add_user_turn(&prompt, std::move(media), request.text);
  return prompt;
}

GenerationOptions generation_options(const AnswerOptions& options) {
  GenerationOptions generation;
  generation.max_tokens = options.max_tokens;
  generation.stop_strings = options.stop;
  generation.stop_token_ids = options.stop_token_ids;
  generation.ignore_eos = options.ignore_eos;
  SamplingOptions& sampling = generation.sampling;
  sampling.temperature = options.temperature;
  sampling.top_k = options.top_k;
  sampling.top_p = options.top_p;
  sampling.min_p = options.min_p;
  sampling.repetition_penalty = options.repetition_penalty;
  sampling.presence_penalty = options.presence_penalty;
  sampling.frequency_penalty = options.frequency_penalty;
  sampling.logit_bias = options.logit_bias;
  sampling.seed = options.seed;
  return generation;
}

Finish finish_of(FinishReason reason) {
  switch (reason) {
    case FinishReason::kStop:
      return Finish::kStop;
    case FinishReason::kLength:
      return Finish::kLength;
    case FinishReason::kCancelled:
      return Finish::kCancelled;
  }
  internal_error("finish reason", "unknown");
}

}  // namespace

struct Model::State {
  State(const std::string& model, const LoadOptions& options) : session(model, engine_options(options)) {}

  ModelInput prepare(const Request& request, std::vector<std::string>* warnings) const {
    const Prompt prompt = make_prompt(request);
    if (warnings != nullptr) *warnings = prompt.warnings;
    PrepareOptions options;
    options.max_image_crops = request.max_image_crops;
    return session.prepare(prompt, options);
  }

  Session session;
};

Model::Model(const std::string& model, const LoadOptions& options) : state_(std::make_unique<State>(model, options)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Answer Model::ask(const Request& request, const AnswerOptions& options, const TextCallback& on_text) {
  Answer answer;
  const ModelInput input = state_->prepare(request, &answer.warnings);
  size_t told = 0;  // bytes of the answer that on_text has had
  GenerationCallback callback;
  if (on_text) {
    callback = [&](const GenerationEvent& event) {
      told += event.text.size();
      return event.text.empty() || on_text(event.text);
    };
  }
  Generation generation = state_->session.engine().generate(input, generation_options(options), callback);
  // What was held back as the possible beginning of a stop string.
  if (on_text && told < generation.text.size()) on_text(std::string_view(generation.text).substr(told));
  answer.text = std::move(generation.text);
  answer.token_ids = std::move(generation.token_ids);
  answer.logprobs = std::move(generation.logprobs);
  answer.finish = finish_of(generation.finish_reason);
  answer.usage.prompt_tokens = static_cast<int64_t>(input.ids.size());
  answer.usage.image_tokens = input.image_tokens();
  answer.usage.audio_tokens = input.audio_tokens();
  answer.usage.completion_tokens = static_cast<int64_t>(answer.token_ids.size());
  return answer;
}

Score Model::score(const Request& request) {
  Score score;
  ModelInput input = state_->prepare(request, nullptr);
  score.logprobs = state_->session.engine().score(input);
  score.token_ids = std::move(input.ids);
  return score;
}

int64_t Model::context_length() const { return state_->session.config().decoder.max_position_embeddings; }

const char* version() { return OMNIPHI_VERSION; }

}  // namespace omniphi

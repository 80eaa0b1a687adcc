// The C++ interface of omniphi: load a model, ask it about text, images and audio.
//
//   omniphi::Model model("microsoft/Phi-4-multimodal-instruct");
//   omniphi::Request request;
//   request.media = {omniphi::Medium::image("receipt.jpg")};
//   request.text = "What was paid?";
//   omniphi::Answer answer = model.ask(request);
//
// Only standard types cross this header. Everything that goes wrong is thrown as omniphi::Error.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "omniphi/error.h"

namespace omniphi {

struct LoadOptions {
  int threads = 0;              // 0: all cores that the process may use
  int64_t prefill_chunk = 512;  // prompt tokens that run together; never changes a result
  bool kv_bf16 = false;         // keep keys and values in bf16 instead of fp32
};

// An image or an audio: a path, or the bytes of an encoded file.
struct Medium {
  enum class Kind : uint8_t { kImage, kAudio };
  Kind kind = Kind::kImage;
  std::string path;   // empty when `bytes` are given
  std::string bytes;  // the content of a file

  static Medium image(std::string path) { return Medium{Kind::kImage, std::move(path), {}}; }
  static Medium audio(std::string path) { return Medium{Kind::kAudio, std::move(path), {}}; }
};

// What is asked. Either one user turn (`system`, `media`, `text`) or a conversation as an OpenAI message list.
struct Request {
  std::string system;         // empty: no system message
  std::vector<Medium> media;  // in front of the text, in this order
  std::string text;
  std::string messages_json;    // not empty: a message list, and the three fields above must be empty
  std::string messages_folder;  // where relative paths of media in messages_json start

  int max_image_crops = 0;  // local crops of an image at most; 0: the checkpoint's own number
};

struct AnswerOptions {
  int64_t max_tokens = -1;  // -1: to the context limit
  float temperature = 0;    // 0: greedy
  int top_k = 0;            // 0: off
  float top_p = 1;          // 1: off
  float min_p = 0;          // 0: off
  float repetition_penalty = 1;
  float presence_penalty = 0;
  float frequency_penalty = 0;
  std::vector<std::pair<int32_t, float>> logit_bias;
  uint64_t seed = 0;
  std::vector<std::string> stop;
  std::vector<int32_t> stop_token_ids;
  bool ignore_eos = false;
};

enum class Finish : uint8_t { kStop, kLength, kCancelled };

struct Usage {
  int64_t prompt_tokens = 0;  // text, image and audio tokens
  int64_t image_tokens = 0;
  int64_t audio_tokens = 0;
  int64_t completion_tokens = 0;
};

struct Answer {
  std::string text;                // UTF-8, without the stop token or stop string
  std::vector<int32_t> token_ids;  // generated, a stop token included
  std::vector<float> logprobs;     // of each, before temperature, penalties and masks
  Finish finish = Finish::kStop;
  Usage usage;
  std::vector<std::string> warnings;  // what was accepted though it has no effect
};

// Log-probabilities of a whole prompt.
struct Score {
  std::vector<int32_t> token_ids;  // expanded: a medium's id stands once for each of its tokens
  std::vector<float> logprobs;     // one a token; NaN for the first and for pictures' slots of negative id
};

// Receives text as it becomes certain, in whole UTF-8 characters. Returns false to stop the answer.
using TextCallback = std::function<bool(std::string_view text)>;

// A loaded model. Calls on one object must not overlap; several objects share the pages of their weights.
class Model {
 public:
  // `model` is a folder, or a repository id in the Hugging Face cache (HF_HOME). Maps the weights without copying them.
  explicit Model(const std::string& model, const LoadOptions& options = {});
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  Answer ask(const Request& request, const AnswerOptions& options = {}, const TextCallback& on_text = {});

  // log p(token | those before it) for every token of the prompt that ask() would send.
  Score score(const Request& request);

  // The longest sequence, prompt and answer together, in tokens.
  int64_t context_length() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// "0.1.0"
const char* version();

}  // namespace omniphi

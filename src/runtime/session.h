// A model that is ready to answer: checkpoint, tokenizer, model and engine in one.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/engine.h"
#include "runtime/prepare.h"

namespace omniphi {

// What the command line, the C++ API and tests share.
class Session {
 public:
  // `model` is a folder or a repository id in the Hugging Face cache. Maps the weights; reads none. Throws kCheckpoint
  // with every reason why the model can't be used, and kUsage when OMNIPHI_ISA names what this machine lacks.
  explicit Session(const std::string& model, const EngineOptions& options = {});
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const ModelFamily& family() const;
  const ModelConfig& config() const;
  const Tokenizer& tokenizer() const;
  Engine& engine();
  // What the checkpoint holds that omniphi doesn't know and ignores.
  const std::vector<std::string>& warnings() const;

  // prepare_input() with this model's family, configuration and tokenizer.
  ModelInput prepare(const Prompt& prompt, const PrepareOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace omniphi

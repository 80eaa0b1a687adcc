#include "runtime/session.h"

#include "io/model_path.h"
#include "models/registry/registry.h"

namespace omniphi {

// Each member refers to those before it.
struct Session::State {
  State(const std::filesystem::path& folder, const EngineOptions& options)
      : family(family_of_folder(folder)),
        checkpoint(family.open(folder, {})),
        tokenizer(Tokenizer::load(folder)),
        model(family.bind(*checkpoint)),
        engine(*model, tokenizer, options) {}

  const ModelFamily& family;
  std::shared_ptr<const ModelCheckpoint> checkpoint;
  Tokenizer tokenizer;
  std::unique_ptr<CausalModel> model;
  Engine engine;
};

Session::Session(const std::string& model, const EngineOptions& options)
    : state_(std::make_unique<State>(resolve_model(model), options)) {}

Session::~Session() = default;

const ModelFamily& Session::family() const { return state_->family; }
const ModelConfig& Session::config() const { return state_->checkpoint->config(); }
const Tokenizer& Session::tokenizer() const { return state_->tokenizer; }
Engine& Session::engine() { return state_->engine; }
const std::vector<std::string>& Session::warnings() const { return state_->checkpoint->warnings(); }

ModelInput Session::prepare(const Prompt& prompt, const PrepareOptions& options) const {
  return prepare_input(family(), config(), tokenizer(), prompt, options);
}

}  // namespace omniphi

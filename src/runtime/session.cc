#include "runtime/session.h"

#include "io/model_path.h"
#include "models/phi4mm/checkpoint/checkpoint.h"
#include "models/phi4mm/model.h"

namespace omniphi {

// Each member refers to those before it.
struct Session::State {
  State(const std::filesystem::path& folder, const EngineOptions& options)
      : checkpoint(phi4mm::Checkpoint::open(folder)),
        tokenizer(Tokenizer::load(folder)),
        model(checkpoint),
        engine(model, tokenizer, options) {}

  phi4mm::Checkpoint checkpoint;
  Tokenizer tokenizer;
  phi4mm::Model model;
  Engine engine;
};

Session::Session(const std::string& model, const EngineOptions& options)
    : state_(std::make_unique<State>(resolve_model(model), options)) {}

Session::~Session() = default;

const phi4mm::Config& Session::config() const { return state_->checkpoint.config(); }
const Tokenizer& Session::tokenizer() const { return state_->tokenizer; }
Engine& Session::engine() { return state_->engine; }
const std::vector<std::string>& Session::warnings() const { return state_->checkpoint.warnings(); }

phi4mm::ModelInput Session::prepare(const Prompt& prompt, const PrepareOptions& options) const {
  return prepare_input(config(), tokenizer(), prompt, options);
}

}  // namespace omniphi

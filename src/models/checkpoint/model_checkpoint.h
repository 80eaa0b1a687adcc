// A model folder of any family, checked and mapped.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "models/checkpoint/checkpoint_tensors.h"
#include "models/config.h"

namespace omniphi {

// The weights with what the configuration says about them. Families derive theirs.
class ModelCheckpoint : public CheckpointTensors {
 public:
  const ModelConfig& config() const { return config_; }
  // How the folder names its weights: "original (phi4mm)".
  const std::string& layout_name() const { return layout_name_; }

 protected:
  ModelCheckpoint(CheckpointTensors tensors, ModelConfig config, std::string layout_name)
      : CheckpointTensors(std::move(tensors)), config_(std::move(config)), layout_name_(std::move(layout_name)) {}

 private:
  ModelConfig config_;
  std::string layout_name_;
};

// What the configuration files alone say.
struct ConfigReport {
  ModelConfig config;
  std::string layout_name;
  std::vector<std::string> inert_keys;
  std::vector<std::string> warnings;
};

}  // namespace omniphi

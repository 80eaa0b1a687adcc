// The tensors that a family's configuration calls for, and the parts of a model that they belong to.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tensor/shape.h"

namespace omniphi {

// What a tensor belongs to, in the order in which `inspect` lists them. A family has some of these parts.
enum class Part : uint8_t {
  kDecoder,
  kVisionLora,
  kSpeechLora,
  kVisionTower,
  kVisionProjector,
  kAudioEncoder,
  kAudioProjector,
};
inline constexpr int kNumParts = 7;

// "decoder", "vision LoRA", ...
const char* part_name(Part part);

struct ExpectedTensor {
  std::string name;
  Shape shape;
  Part part = Part::kDecoder;
  // False for what a release holds and nothing reads, such as the last block of an image tower.
  bool used = true;
};

// Collects the tensors of a family, part by part.
class TensorListBuilder {
 public:
  explicit TensorListBuilder(std::vector<ExpectedTensor>& tensors) : tensors_(tensors) {}

  // Of the tensors that follow.
  Part part = Part::kDecoder;
  bool used = true;

  void add(const std::string& name, Shape shape);
  // NAME.weight [out, in] and NAME.bias [out]
  void linear(const std::string& name, int64_t out, int64_t in);
  // NAME.weight of any shape whose first extent is the bias's.
  void conv(const std::string& name, Shape weight);
  // NAME.weight and NAME.bias [size]
  void layer_norm(const std::string& name, int64_t size);
  // A block of an image tower: two norms, four projections of the attention, two of the MLP.
  void vision_block(const std::string& prefix, int64_t width, int64_t inner);

 private:
  std::vector<ExpectedTensor>& tensors_;
};

}  // namespace omniphi

// A Phi-4-multimodal model folder, checked and mapped.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/phi4mm/checkpoint/tensor_list.h"
#include "models/phi4mm/config.h"
#include "tensor/tensor.h"

namespace omniphi::phi4mm {

// How the folder names its weights.
enum class Layout : uint8_t {
  kOriginal,  // model_type phi4mm: base_layer and lora_A.vision beside each other in one set of files
  kNative,    // model_type phi4_multimodal: transformers' own names, adapters in speech-lora/ and vision-lora/
};

// "original (phi4mm)" or "transformers-native (phi4_multimodal)".
const char* layout_name(Layout layout);

enum class TokenizerCheck : uint8_t {
  kRequired,   // the folder must hold a tokenizer with the two media tokens and no id outside the vocabulary
  kIfPresent,  // the same, but only when there are tokenizer files
};

struct OpenOptions {
  TokenizerCheck tokenizer = TokenizerCheck::kRequired;
};

// One tensor as it was found.
struct TensorInfo {
  ExpectedTensor expected;
  std::string stored_name;  // its name in the file
  size_t file = 0;          // index into Checkpoint::files()
  View view;                // into the mapped file, or into a copy when it lies misaligned for its type
};

struct FileInfo {
  std::filesystem::path path;
  uint64_t bytes = 0;
  size_t tensors = 0;
};

// Opening maps the files and checks everything, reads no weights, and copies none but tensors that lie misaligned for
// their type. Both layouts answer to the names of the original one. Moving keeps Views valid.
class Checkpoint {
 public:
  // Throws RefusedError (an Error of kCheckpoint) with every reason why the folder can't be used.
  static Checkpoint open(const std::filesystem::path& folder, const OpenOptions& options = {});

  ~Checkpoint();
  Checkpoint(Checkpoint&&) noexcept;
  Checkpoint& operator=(Checkpoint&&) noexcept;

  const std::filesystem::path& folder() const;
  const Config& config() const;
  Layout layout() const;

  // The tensor of that canonical (original) name: bf16, fp16 or fp32, of the shape that expected_tensors() gives.
  // Throws kInternal when the configuration doesn't call for such a tensor. Lives as long as this Checkpoint.
  View tensor(std::string_view canonical_name) const;

  // All tensors, in the order of expected_tensors().
  const std::vector<TensorInfo>& tensors() const;

  const std::vector<FileInfo>& files() const;
  // Keys of the configuration files that omniphi knows to have no effect on inference.
  const std::vector<std::string>& inert_keys() const;
  // Keys that omniphi doesn't know and ignores, and whatever else deserves a look.
  const std::vector<std::string>& warnings() const;
  // Canonical names of tensors that had to be copied because they lie misaligned for their type.
  const std::vector<std::string>& copied_tensors() const;

 private:
  struct State;
  explicit Checkpoint(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Reads and checks only the configuration files: no weights, and no tokenizer unless it is there. For what needs sizes
// alone. Throws RefusedError.
struct ConfigReport {
  Config config;
  Layout layout = Layout::kOriginal;
  std::vector<std::string> inert_keys;
  std::vector<std::string> warnings;
};
ConfigReport open_config(const std::filesystem::path& folder);

}  // namespace omniphi::phi4mm

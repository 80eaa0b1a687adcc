// Holds the tensors of a folder against those that its configuration calls for.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "io/reasons.h"
#include "io/shards.h"
#include "models/checkpoint/checkpoint_tensors.h"
#include "models/checkpoint/tensor_list.h"

namespace omniphi {

// Opens FOLDER's model weights; what can't be opened becomes reasons.
Shards open_model_weights(const std::filesystem::path& folder, Reasons& reasons);

// Where a tensor is stored: in the model's files (group 0) or in WeightFiles::adapters[group - 1].
struct StoredName {
  size_t group = 0;
  std::string name;  // adapters: without WeightRules::adapter_prefix
};

// What a family says about its files.
struct WeightRules {
  // What an expected tensor is called in the files; absent: as it is, in the model's.
  std::function<StoredName(const std::string& canonical)> stored_name;
  // Stands in front of the names in adapter files, or doesn't.
  std::string_view adapter_prefix;
  // Why a part can't be left out, for the reason that says that all of it is missing.
  std::function<const char*(Part)> partner;
  // Tensors that may stand in the files though nothing reads or expects them; absent: none.
  std::function<bool(std::string_view name)> ignored;
};

// Finds every expected tensor, and adds reasons for those that are missing, of another shape, or of a dtype other than
// bf16, fp16 and fp32, and for tensors that nothing expects. A whole part that is missing is one reason.
std::vector<TensorInfo> match_tensors(const WeightFiles& files, std::vector<ExpectedTensor> expected,
                                      const WeightRules& rules, Reasons& reasons);

}  // namespace omniphi

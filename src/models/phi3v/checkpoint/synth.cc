#include "models/phi3v/checkpoint/synth.h"

#include <utility>
#include <vector>

#include "base/file.h"
#include "models/phi3v/checkpoint/synth_config.h"
#include "models/phi3v/checkpoint/synth_tokenizer.h"
#include "models/phi3v/checkpoint/tensor_list.h"

namespace omniphi::phi3v {

SynthSummary synthesize(const Config& config, const std::filesystem::path& folder, const SynthFileOptions& options) {
  prepare_synth_folder(folder, options);
  if (options.tokenizer.empty()) {
    write_synthetic_tokenizer(config, folder);
  } else {
    copy_tokenizer_files(options.tokenizer, folder);
  }
  write_file(folder / "config.json", config_json(config).dump(1));
  write_file(folder / "generation_config.json", generation_config_json(config).dump(1));
  write_file(folder / "preprocessor_config.json", preprocessor_config_json(config).dump(1));
  const std::vector<ExpectedTensor> tensors = expected_tensors(config);
  PlannedFile model;
  for (const ExpectedTensor& tensor : tensors) model.add({tensor.name, options.dtype, tensor.shape}, tensor);
  return write_planned(folder, split_model(std::move(model), options.max_shard_bytes), options);
}

}  // namespace omniphi::phi3v

#include "cli/inspect_output.h"

#include <array>
#include <cstdio>
#include <map>
#include <ostream>
#include <utility>
#include <vector>

namespace omniphi::cli {
namespace {

struct PartSummary {
  int64_t tensors = 0, parameters = 0, bytes = 0, unused = 0;  // unused: parameters that nothing reads
  std::map<std::string, int64_t> dtypes;                       // tensors of each
};

std::array<PartSummary, kNumParts> summarise(const ModelCheckpoint& checkpoint) {
  std::array<PartSummary, kNumParts> parts;
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    PartSummary& part = parts[static_cast<size_t>(tensor.expected.part)];
    ++part.tensors;
    part.parameters += tensor.expected.shape.count();
    part.bytes += static_cast<int64_t>(tensor.view.bytes());
    if (!tensor.expected.used) part.unused += tensor.expected.shape.count();
    ++part.dtypes[dtype_name(tensor.view.dtype)];
  }
  return parts;
}

PartSummary sum_of(const std::array<PartSummary, kNumParts>& parts) {
  PartSummary sum;
  for (const PartSummary& part : parts) {
    sum.tensors += part.tensors;
    sum.parameters += part.parameters;
    sum.bytes += part.bytes;
    sum.unused += part.unused;
    for (const auto& [name, count] : part.dtypes) sum.dtypes[name] += count;
  }
  return sum;
}

OrderedJson part_json(const PartSummary& part) {
  OrderedJson json{{"tensors", part.tensors},
                   {"parameters", part.parameters},
                   {"unused_parameters", part.unused},
                   {"bytes", part.bytes}};
  json["dtypes"] = OrderedJson::object();
  for (const auto& [name, count] : part.dtypes) json["dtypes"][name] = count;
  return json;
}

void print_part(std::ostream& out, const char* name, const PartSummary& part) {
  std::string dtypes;
  for (const auto& [dtype, count] : part.dtypes) {
    dtypes += (dtypes.empty() ? "" : ", ") + dtype + (part.dtypes.size() > 1 ? " x" + std::to_string(count) : "");
  }
  char line[160];
  std::snprintf(line, sizeof line, "  %-18s %6lld %15lld %15lld  %s", name, static_cast<long long>(part.tensors),
                static_cast<long long>(part.parameters), static_cast<long long>(part.bytes), dtypes.c_str());
  out << line;
  if (part.unused > 0) out << "  (" << part.unused << " never read)";
  out << "\n";
}

void print_list(std::ostream& out, const std::vector<std::string>& list, const char* title) {
  if (list.empty()) return;
  out << title << "\n";
  for (const std::string& entry : list) out << "  " << entry << "\n";
}

// The ids that a prompt of the family needs besides text.
std::vector<std::pair<const char*, int32_t>> special_ids(const ModelConfig& config) {
  std::vector<std::pair<const char*, int32_t>> ids;
  if (config.bos_token_id > 0) ids.emplace_back("begin", config.bos_token_id);
  if (config.image_token_id > 0) ids.emplace_back("image", config.image_token_id);
  if (config.audio_token_id > 0) ids.emplace_back("audio", config.audio_token_id);
  return ids;
}

void print_sizes(std::ostream& out, const ModelFamily& family, const ModelConfig& config) {
  const DecoderConfig& d = config.decoder;
  const VisionConfig& v = config.vision;
  out << "decoder: " << d.num_layers << " layers, hidden " << d.hidden_size << ", heads " << d.num_heads
      << " (keys and values " << d.num_kv_heads << ") of " << d.head_dim << ", MLP " << d.intermediate_size
      << ", vocabulary " << d.vocab_size << "\n";
  if (d.vision_lora.rank > 0) {
    out << "LoRA: vision rank " << d.vision_lora.rank << " scale " << d.vision_lora.scale() << ", speech rank "
        << d.speech_lora.rank << " scale " << d.speech_lora.scale() << "\n";
  }
  out << "vision: " << v.num_layers << " " << family.vision_tower << " blocks (the last is never run), width "
      << v.hidden_size << ", heads " << v.num_heads << ", " << v.max_crops << " crops of " << v.image_size
      << " unless a request says otherwise (1 to " << family.max_crops(config) << ")\n";
  if (config.hears()) {
    out << "audio: " << config.audio.num_blocks << " Conformer blocks, width " << config.audio.attention_dim
        << ", heads " << config.audio.num_heads << "\n";
  }
  out << "context: " << d.max_position_embeddings << " tokens, long LongRoPE factors beyond "
      << d.original_max_position_embeddings << "\n";
  if (d.sliding_window > 0) out << "sliding window: " << d.sliding_window << " keys before the query's own\n";
  out << "special ids:";
  for (const auto& [name, id] : special_ids(config)) out << " " << name << " " << id << ",";
  out << " stop";
  for (const int32_t id : config.eos_token_ids) out << " " << id;
  out << "\n";
}

OrderedJson sizes_json(const ModelConfig& config) {
  const DecoderConfig& d = config.decoder;
  OrderedJson sizes{{"decoder",
                     {{"layers", d.num_layers},
                      {"hidden_size", d.hidden_size},
                      {"heads", d.num_heads},
                      {"kv_heads", d.num_kv_heads},
                      {"head_dim", d.head_dim},
                      {"intermediate_size", d.intermediate_size},
                      {"vocab_size", d.vocab_size}}},
                    {"vision",
                     {{"layers", config.vision.num_layers},
                      {"hidden_size", config.vision.hidden_size},
                      {"heads", config.vision.num_heads},
                      {"max_crops", config.vision.max_crops}}}};
  if (d.vision_lora.rank > 0) {
    sizes["decoder"]["vision_lora"] = {{"rank", d.vision_lora.rank}, {"scale", d.vision_lora.scale()}};
    sizes["decoder"]["speech_lora"] = {{"rank", d.speech_lora.rank}, {"scale", d.speech_lora.scale()}};
  }
  if (config.hears()) {
    sizes["audio"] = {
        {"blocks", config.audio.num_blocks}, {"width", config.audio.attention_dim}, {"heads", config.audio.num_heads}};
  }
  return sizes;
}

}  // namespace

OrderedJson inspect_json(const ModelFamily& family, const ModelCheckpoint& checkpoint) {
  const ModelConfig& config = checkpoint.config();
  const auto parts = summarise(checkpoint);
  OrderedJson json;
  json["folder"] = checkpoint.folder().string();
  json["family"] = family.title;
  json["layout"] = checkpoint.layout_name();
  json["files"] = OrderedJson::array();
  for (const FileInfo& file : checkpoint.files()) {
    json["files"].push_back(
        OrderedJson{{"path", file.path.string()}, {"bytes", file.bytes}, {"tensors", file.tensors}});
  }
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].tensors == 0) continue;
    json["parts"][part_name(static_cast<Part>(i))] = part_json(parts[i]);
  }
  json["total"] = part_json(sum_of(parts));
  json["sizes"] = sizes_json(config);
  json["special_ids"] = OrderedJson::object();
  for (const auto& [name, id] : special_ids(config)) json["special_ids"][name] = id;
  json["special_ids"]["stop"] = config.eos_token_ids;
  json["limits"] = OrderedJson{{"context", config.decoder.max_position_embeddings},
                               {"original_context", config.decoder.original_max_position_embeddings},
                               {"max_image_crops", family.max_crops(config)}};
  if (config.decoder.sliding_window > 0) json["limits"]["sliding_window"] = config.decoder.sliding_window;
  json["copied_tensors"] = checkpoint.copied_tensors();
  json["inert_keys"] = checkpoint.inert_keys();
  json["warnings"] = checkpoint.warnings();
  return json;
}

void print_inspection(const ModelFamily& family, const ModelCheckpoint& checkpoint, std::ostream& out) {
  out << family.title << ", layout " << checkpoint.layout_name() << "\n" << checkpoint.folder().string() << "\n";
  for (const FileInfo& file : checkpoint.files()) {
    out << "  " << file.path.filename().string() << ": " << file.bytes << " bytes, " << file.tensors << " tensors\n";
  }
  out << "  part               tensors    parameters           bytes  dtype\n";
  const auto parts = summarise(checkpoint);
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].tensors > 0) print_part(out, part_name(static_cast<Part>(i)), parts[i]);
  }
  print_part(out, "total", sum_of(parts));
  print_sizes(out, family, checkpoint.config());
  print_list(out, checkpoint.copied_tensors(), "copied, because they lie misaligned for their type:");
  print_list(out, checkpoint.inert_keys(), "keys without effect on inference:");
  print_list(out, checkpoint.warnings(), "warnings:");
}

}  // namespace omniphi::cli

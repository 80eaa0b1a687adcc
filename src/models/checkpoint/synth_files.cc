#include "models/checkpoint/synth_files.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>

#include "base/error.h"
#include "base/file.h"
#include "base/thread_pool.h"
#include "models/checkpoint/synth_values.h"

namespace omniphi {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kChunk = 1 << 20;  // values that one thread makes at a time; even

uint64_t bytes_of(const TensorSpec& spec) { return static_cast<uint64_t>(spec.shape.count()) * dtype_size(spec.dtype); }

void write_index(const fs::path& folder, const std::vector<PlannedFile>& files) {
  nlohmann::json weight_map = nlohmann::json::object();
  uint64_t total = 0;
  for (const PlannedFile& file : files) {
    if (file.path.has_parent_path()) continue;  // adapters
    for (const TensorSpec& spec : file.specs) {
      weight_map[spec.name] = file.path.string();
      total += bytes_of(spec);
    }
  }
  const nlohmann::json index = {{"metadata", {{"total_size", total}}}, {"weight_map", weight_map}};
  write_file(folder / "model.safetensors.index.json", index.dump(1));
}

// Part of one tensor.
struct Piece {
  size_t tensor;
  int64_t first, count;
};

std::vector<Piece> cut(const PlannedFile& file) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < file.specs.size(); ++i) {
    const int64_t count = file.specs[i].shape.count();
    for (int64_t first = 0; first < count; first += kChunk)
      pieces.push_back({i, first, std::min(kChunk, count - first)});
  }
  return pieces;
}

void write_random(const PlannedFile& file, const SynthFileOptions& options, SafetensorsWriter& writer,
                  ThreadPool& pool) {
  const std::vector<Piece> pieces = cut(file);
  const size_t width = dtype_size(options.dtype);
  std::vector<std::vector<std::byte>> buffers(static_cast<size_t>(pool.threads()));
  std::atomic<bool> failed = false;
  std::exception_ptr failure;
  std::mutex mutex;
  pool.parallel_for(static_cast<int64_t>(pieces.size()), [&](int64_t index, int thread) {
    if (failed) return;
    const Piece& piece = pieces[static_cast<size_t>(index)];
    const ExpectedTensor& source = *file.sources[piece.tensor];
    try {
      std::vector<std::byte>& buffer = buffers[static_cast<size_t>(thread)];
      buffer.resize(static_cast<size_t>(piece.count) * width);
      fill_values(value_key(options.seed, source), scatter_of(source), piece.first, options.dtype, buffer);
      writer.write(piece.tensor, static_cast<uint64_t>(piece.first) * width, buffer);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

void PlannedFile::add(TensorSpec spec, const ExpectedTensor& source) {
  specs.push_back(std::move(spec));
  sources.push_back(&source);
}

void prepare_synth_folder(const fs::path& folder, const SynthFileOptions& options) {
  std::error_code code;
  if (fs::exists(folder, code) && (!fs::is_directory(folder, code) || !fs::is_empty(folder, code))) {
    throw Error(ErrorKind::kUsage, folder.string(), "something is there already", "a new or empty folder");
  }
  if (options.dtype != DType::kBF16 && options.dtype != DType::kF16 && options.dtype != DType::kF32) {
    throw Error(ErrorKind::kUsage, "dtype", dtype_name(options.dtype), "BF16, F16 or F32");
  }
  if (options.max_shard_bytes == 0) throw Error(ErrorKind::kUsage, "shard size", "0", "at least one byte");
  fs::create_directories(folder, code);
  if (code) throw Error(ErrorKind::kInternal, folder.string(), "can't make it: " + code.message());
}

void copy_tokenizer_files(const fs::path& source, const fs::path& folder) {
  if (!fs::exists(source / "tokenizer.json")) {
    throw Error(ErrorKind::kUsage, source.string(), "no tokenizer.json", "a folder with tokenizer files");
  }
  for (const char* name : {"tokenizer.json", "tokenizer_config.json", "added_tokens.json", "special_tokens_map.json",
                           "vocab.json", "merges.txt"}) {
    std::error_code code;
    if (!fs::exists(source / name, code)) continue;
    fs::copy_file(source / name, folder / name, code);
    if (code) throw Error(ErrorKind::kInternal, (folder / name).string(), "can't copy: " + code.message());
    fs::permissions(folder / name, fs::perms::owner_write, fs::perm_options::add, code);
  }
}

std::vector<PlannedFile> split_model(PlannedFile whole, uint64_t max_bytes) {
  std::vector<PlannedFile> files;
  uint64_t size = 0;
  for (size_t i = 0; i < whole.specs.size(); ++i) {
    const uint64_t bytes = bytes_of(whole.specs[i]);
    if (files.empty() || size + bytes > max_bytes) {
      files.emplace_back();
      size = 0;
    }
    files.back().add(std::move(whole.specs[i]), *whole.sources[i]);
    size += bytes;
  }
  if (files.size() == 1) {
    files[0].path = "model.safetensors";
    return files;
  }
  for (size_t i = 0; i < files.size(); ++i) {
    char name[64];
    std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", i + 1, files.size());
    files[i].path = name;
  }
  return files;
}

SynthSummary write_planned(const fs::path& folder, const std::vector<PlannedFile>& files,
                           const SynthFileOptions& options) {
  SynthSummary summary;
  summary.files = files.size();
  std::unique_ptr<ThreadPool> pool;
  if (options.fill == Fill::kRandom) pool = std::make_unique<ThreadPool>(options.threads);
  for (const PlannedFile& file : files) {
    SafetensorsWriter writer(folder / file.path, file.specs, {{"format", "pt"}});
    if (pool) write_random(file, options, writer, *pool);
    writer.finish();
    for (const TensorSpec& spec : file.specs) {
      ++summary.tensors;
      summary.parameters += spec.shape.count();
      summary.bytes += bytes_of(spec);
    }
  }
  if (files[0].path != "model.safetensors") write_index(folder, files);
  return summary;
}

nlohmann::ordered_json shortest_json(float value) {
  char text[32];
  for (int digits = 1; digits <= 9; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
    if (std::strtof(text, nullptr) == value) break;
  }
  return nlohmann::ordered_json::parse(text);
}

}  // namespace omniphi

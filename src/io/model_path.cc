#include "io/model_path.h"

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/file.h"
#include "io/json.h"

namespace omniphi {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxRefBytes = 4096;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A folder that a variable names; a leading ~ is the home folder, as for Hugging Face's own tools.
fs::path folder_in(const char* name) {
  const std::string value = variable(name);
  const std::string home = variable("HOME");
  if (home.empty() || (value != "~" && !value.starts_with("~/"))) return value;
  return home + value.substr(1);
}

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

// One part of a repository id or revision: no separators, no way up.
bool is_plain_name(std::string_view name) {
  if (name.empty() || name.size() > 200 || name == "." || name == "..") return false;
  for (const char c : name) {
    if (!is_name_char(c)) return false;
  }
  return true;
}

// "main", "refs/pr/70", a commit.
bool is_revision(std::string_view revision) {
  while (true) {
    const size_t slash = revision.find('/');
    if (!is_plain_name(revision.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    revision.remove_prefix(slash + 1);
  }
}

struct RepositoryId {
  std::string owner, name, revision;
};

// True and *id set when `model` is OWNER/NAME or OWNER/NAME@REVISION.
bool parse_repository_id(const std::string& model, RepositoryId* id) {
  const size_t at = model.find('@');
  const std::string repository = model.substr(0, at);
  id->revision = at == std::string::npos ? "main" : model.substr(at + 1);
  const size_t slash = repository.find('/');
  if (slash == std::string::npos) return false;
  id->owner = repository.substr(0, slash);
  id->name = repository.substr(slash + 1);
  return is_plain_name(id->owner) && is_plain_name(id->name) && is_revision(id->revision);
}

[[noreturn]] void refuse_file(const fs::path& path) {
  const std::string suffix = path.extension().string();
  std::string what = "a single file";
  if (suffix == ".gguf") what = "a GGUF file";
  if (suffix == ".bin" || suffix == ".pt" || suffix == ".pth" || suffix == ".ckpt") what = "a PyTorch checkpoint file";
  if (suffix == ".safetensors") what = "a safetensors file on its own";
  throw Error(ErrorKind::kCheckpoint, path.string(), what, "a folder with config.json, safetensors and tokenizer files",
              suffix == ".safetensors" ? "Name the folder that holds it."
                                       : "Use the safetensors release of the model; other formats are not read.");
}

fs::path find_in_cache(const std::string& model, const RepositoryId& id) {
  std::string remedy = "Download it with: hf download " + id.owner + "/" + id.name;
  if (id.revision != "main") remedy += " --revision " + id.revision;
  remedy += ", or name a folder.";
  const auto absent = [&](const std::string& found) {
    throw Error(ErrorKind::kCheckpoint, "--model " + model, found, "a folder, or a repository in that cache", remedy);
  };
  const fs::path cache = hugging_face_cache();
  if (cache.empty())
    absent("there is no such folder, and HF_HOME and HOME are not set, so there is no cache to look in");
  const fs::path repository = cache / ("models--" + id.owner + "--" + id.name);
  std::error_code code;
  if (!fs::is_directory(repository, code)) {
    absent("there is no such folder, and the Hugging Face cache has no " + repository.string());
  }
  std::string commit = id.revision;
  const fs::path reference = repository / "refs" / id.revision;
  if (fs::is_regular_file(reference, code)) {
    commit = read_file(reference, kMaxRefBytes, ErrorKind::kCheckpoint);
    while (!commit.empty() && (commit.back() == '\n' || commit.back() == '\r' || commit.back() == ' '))
      commit.pop_back();
    if (!is_plain_name(commit)) {
      throw Error(ErrorKind::kCheckpoint, reference.string(), show_text(commit), "the name of a snapshot", remedy);
    }
  }
  if (!is_plain_name(commit)) absent("the Hugging Face cache has no " + reference.string());
  const fs::path snapshot = repository / "snapshots" / commit;
  if (!fs::is_directory(snapshot, code)) absent("the Hugging Face cache has no " + snapshot.string());
  return snapshot;
}

}  // namespace

fs::path hugging_face_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const fs::path cache = folder_in(name); !cache.empty()) return cache;
  }
  if (const fs::path home = folder_in("HF_HOME"); !home.empty()) return home / "hub";
  if (const fs::path cache = folder_in("XDG_CACHE_HOME"); !cache.empty()) return cache / "huggingface" / "hub";
  if (const std::string home = variable("HOME"); !home.empty()) {
    return fs::path(home) / ".cache" / "huggingface" / "hub";
  }
  return {};
}

fs::path resolve_model(const std::string& model) {
  std::error_code code;
  if (fs::is_directory(model, code)) return model;
  if (fs::exists(model, code)) refuse_file(model);
  RepositoryId id;
  if (!parse_repository_id(model, &id)) {
    throw Error(ErrorKind::kCheckpoint, "--model " + model, "there is no such folder",
                "a folder with config.json, safetensors and tokenizer files, or a repository id such as "
                "microsoft/Phi-4-multimodal-instruct");
  }
  return find_in_cache(model, id);
}

}  // namespace omniphi

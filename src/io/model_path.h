// From what the user calls a model to the folder that holds it.
#pragma once

#include <filesystem>
#include <string>

namespace omniphi {

// `model` is a folder, or a repository id ("microsoft/Phi-4-multimodal-instruct", with "@REVISION" for another branch,
// tag or commit) that is looked up in the Hugging Face cache: HF_HUB_CACHE, HUGGINGFACE_HUB_CACHE, HF_HOME/hub,
// XDG_CACHE_HOME/huggingface/hub or ~/.cache/huggingface/hub, in this order. Nothing is downloaded.
// Throws an Error of kCheckpoint that says where was looked and how to get the model; a single file (GGUF, PyTorch,
// one safetensors) is refused by name.
std::filesystem::path resolve_model(const std::string& model);

// The cache folder that resolve_model looks in; empty when no variable tells.
std::filesystem::path hugging_face_cache();

}  // namespace omniphi

#include "models/phi4mm/checkpoint/names.h"

namespace omniphi::phi4mm {
namespace {

struct Renaming {
  std::string_view original, native;
};

constexpr Renaming kImageNames[] = {
    {"image_embed.img_projection.0.", "image_embed.img_projection_up."},
    {"image_embed.img_projection.2.", "image_embed.img_projection_down."},
    {"image_embed.glb_GN", "image_embed.global_img_feature_extensor"},
    {"image_embed.sub_GN", "image_embed.sub_img_feature_extensor"},
};

constexpr Renaming kAudioNames[] = {
    {".net.0.linear.", ".gate_up_proj."},
    {".net.2.", ".down_proj."},
    {".self_attn.linear_q.", ".self_attn.q_proj."},
    {".self_attn.linear_k.", ".self_attn.k_proj."},
    {".self_attn.linear_v.", ".self_attn.v_proj."},
    {".self_attn.linear_out.", ".self_attn.o_proj."},
    {"audio_projection.speech.0.", "up_proj_for_speech."},
    {"audio_projection.speech.2.", "down_proj_for_speech."},
    {"audio_projection.vision.0.", "up_proj_for_vision_speech."},
    {"audio_projection.vision.2.", "down_proj_for_vision_speech."},
};

// True when `from` was there; its first occurrence becomes `to`.
bool replace(std::string& text, std::string_view from, std::string_view to) {
  const size_t at = text.find(from);
  if (at == std::string::npos) return false;
  text.replace(at, from.size(), to);
  return true;
}

}  // namespace

NativeName native_name(std::string_view canonical_name) {
  NativeName native{NativeFile::kModel, std::string(canonical_name)};
  if (canonical_name.starts_with(kImageEmbedPrefix)) {
    for (const Renaming& names : kImageNames) {
      if (replace(native.name, names.original, names.native)) break;
    }
  } else if (canonical_name.starts_with(kAudioEmbedPrefix)) {
    for (const Renaming& names : kAudioNames) {
      if (replace(native.name, names.original, names.native)) break;
    }
  } else if (!replace(native.name, ".base_layer.", ".") && canonical_name.find(".lora_") != std::string_view::npos) {
    native.file = replace(native.name, ".vision.", ".") ? NativeFile::kVisionAdapter : NativeFile::kSpeechAdapter;
    if (native.file == NativeFile::kSpeechAdapter) replace(native.name, ".speech.", ".");
  }
  return native;
}

const char* adapter_folder(NativeFile file) {
  return file == NativeFile::kVisionAdapter ? "vision-lora" : "speech-lora";
}

}  // namespace omniphi::phi4mm

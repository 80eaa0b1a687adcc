// Compressed audio through FFmpeg's libraries, from memory only.
#pragma once

#include "media/audio_checks.h"
#include "media/audio_format.h"
#include "media/audio_source.h"

namespace omniphi::audio {

// Decodes the first audio stream of `facts.bytes` into `sink`. The container is the given one, never probed, so a
// playlist or a list of files can't be taken for audio; only the codecs of an allow-list run, on one thread; nothing
// can be opened beyond the given bytes (no protocol is allowed and opening anything fails).
// Throws Error{kInput} for a video stream that is no cover art, no audio stream, a codec that isn't allowed, damaged
// data, and fewer samples than facts.expected_samples.
void read_with_ffmpeg(const AudioSource& source, AudioFormat format, const ContainerFacts& facts, CheckedSink& sink);

}  // namespace omniphi::audio

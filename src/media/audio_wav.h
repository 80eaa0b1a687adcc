// WAV files: RIFF, and RF64/BW64 for those beyond 4 GiB.
#pragma once

#include "media/audio_source.h"

namespace omniphi::audio {

// Reads a RIFF WAVE file: PCM of 8 (unsigned), 16, 24, 32 bit, float of 32 and 64 bit, A-law and mu-law, plain or
// WAVE_FORMAT_EXTENSIBLE. Integers become x / 2^(bits-1).
//
// Where the samples end: at the data chunk's size, if the file has that many bytes. A writer to a pipe can't know the
// size; such a header (size 0, or 0x7ffff000 and above as sox, ffmpeg, arecord and others leave it; or any size beside
// a RIFF size of that kind) means all bytes to the end of the file, as does a size that contradicts a RIFF size which
// fits the file. A plausible size with fewer bytes behind it is a truncated file, an Error.
void read_wav(const AudioSource& source, SampleSink& sink);

}  // namespace omniphi::audio

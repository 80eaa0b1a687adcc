// Structure checks that FFmpeg doesn't make: it decodes what is there and calls a truncated file finished. Each check
// walks its container's own lengths once, without decoding.
#pragma once

#include <cstdint>
#include <string_view>

#include "media/audio_format.h"
#include "media/audio_source.h"

namespace omniphi::audio {

// What a check found.
struct ContainerFacts {
  std::string_view bytes;         // the part to decode, without tags around it
  int64_t expected_samples = -1;  // a channel, as the container declares; -1 when it doesn't
  int64_t expected_bytes = -1;    // that frames must take up altogether; -1 when other bytes may stand between them
  int64_t end_sample = -1;        // what decodes behind it is the encoder's padding; -1 when unknown
};

// Throws Error{kInput} when the file ends before what its container declares, or the structure is damaged:
// FLAC: whole metadata; the sample count of STREAMINFO, or that frames fill the file (compared after decoding).
ContainerFacts check_flac(const AudioSource& source, std::string_view bytes);
// MP3: the last frame is whole; the frames that a Xing, Info or VBRI header counts are there; no other bytes between
// frames but tags and zeros; one version, layer and rate.
ContainerFacts check_mp3(const AudioSource& source, std::string_view bytes);
// AAC with ADTS: frame lengths.
ContainerFacts check_adts(const AudioSource& source, std::string_view bytes);
// Ogg: whole pages with right checksums, an end-of-stream page for every stream, no second file chained behind.
ContainerFacts check_ogg(const AudioSource& source, std::string_view bytes);
// MP4: top-level boxes fit the file, an index (moov) is among them.
ContainerFacts check_mp4(const AudioSource& source, std::string_view bytes);
// Matroska: the segment, or with unknown sizes (live recordings) every cluster and block, fits the file.
ContainerFacts check_matroska(const AudioSource& source, std::string_view bytes);
// AIFF: chunks fit the file; the frame count of COMM (compared after decoding).
ContainerFacts check_aiff(const AudioSource& source, std::string_view bytes);

}  // namespace omniphi::audio

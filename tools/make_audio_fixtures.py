#!/usr/bin/env python3
"""Makes tests/data/audio: small files of every format that omniphi decodes, and what independent readers make of them.

Needs ffmpeg, sox, numpy, scipy and soundfile. The product and its tests need none of them: they read the stored numbers.
The signal is the formula of `signal` below, which the tests repeat, so that they can also check that an encoder's delay
has been removed. Run it from the root of the repository; the files differ between versions of the encoders.
"""

import json
import pathlib
import subprocess

import numpy as np
import soundfile as sf
from scipy.signal import resample_poly

OUT = pathlib.Path("tests/data/audio")
SECONDS = 0.3
STRIDE = 211  # of the stored samples

RESAMPLE_RATES = [8001, 9600, 11025, 12000, 15999, 22050, 24000, 32000, 37800, 44100, 44101, 48000, 88200, 96000, 192000]
RESAMPLE_LENGTHS = [1, 2, 7, 100, 5003]


def signal(rate, channels):
    t = np.arange(round(rate * SECONDS)) / rate
    two_pi_t = 2 * np.pi * t
    columns = [0.3 * np.sin(two_pi_t * (300 + 60 * c + 800 * t)) + 0.05 * np.sin(two_pi_t * 1700 + c) for c in range(channels)]
    return np.stack(columns, 1)


def ffmpeg(*arguments):
    subprocess.run(["ffmpeg", "-v", "error", "-y", *map(str, arguments)], check=True, cwd=OUT)


def pipe(command):
    subprocess.run(command, shell=True, check=True, cwd=OUT)


def make_files():
    sources = {"s44": (44100, 2, "PCM_16"), "m16": (16000, 1, "PCM_16"), "s48": (48000, 2, "PCM_24"), "m22": (22050, 1, "PCM_16")}
    for name, (rate, channels, subtype) in sources.items():
        sf.write(OUT / f"{name}.wav", signal(rate, channels), rate, subtype=subtype)
    exact = ["-bitexact", "-map_metadata", "-1"]
    encode = lambda source, target, *options: ffmpeg("-i", f"{source}.wav", *exact, *options, target)
    encode("s44", "lame.mp3", "-c:a", "libmp3lame", "-b:a", "64k")
    encode("s44", "no_count.mp3", "-c:a", "libmp3lame", "-q:a", "7", "-write_xing", "0", "-id3v2_version", "0")
    encode("m16", "mpeg2.mp3", "-c:a", "libmp3lame", "-b:a", "32k")
    encode("s44", "layer2.mp3", "-c:a", "mp2", "-b:a", "96k", "-f", "mp2")
    encode("s44", "vorbis.ogg", "-c:a", "libvorbis", "-q:a", "2")
    encode("s48", "opus.opus", "-c:a", "libopus", "-b:a", "40k")
    encode("m16", "voice.opus", "-c:a", "libopus", "-b:a", "20k", "-application", "voip")
    encode("s44", "aac.m4a", "-c:a", "aac", "-b:a", "64k")
    encode("s44", "aac_faststart.m4a", "-c:a", "aac", "-b:a", "64k", "-movflags", "+faststart")
    encode("s44", "aac_fragmented.mp4", "-c:a", "aac", "-b:a", "64k", "-movflags", "+frag_keyframe+empty_moov")
    encode("m22", "alac.m4a", "-c:a", "alac")
    encode("s44", "adts.aac", "-c:a", "aac", "-b:a", "64k")
    encode("s48", "opus.webm", "-c:a", "libopus", "-b:a", "40k")
    encode("s44", "vorbis.webm", "-c:a", "libvorbis")
    pipe("ffmpeg -v error -y -i s48.wav -bitexact -c:a libopus -b:a 40k -f webm - > opus_live.webm")
    encode("m22", "s16.flac", "-c:a", "flac")
    encode("m22", "flac.oga", "-c:a", "flac")
    pipe("ffmpeg -v error -y -i m22.wav -bitexact -c:a flac -f flac - > streamed.flac")
    sf.write(OUT / "s24.flac", signal(16000, 2), 16000, subtype="PCM_24")
    for subtype in ("PCM_S8", "PCM_24", "FLOAT"):
        sf.write(OUT / f"{subtype.lower()}.aiff", signal(8000, 2), 8000, subtype=subtype)
    encode("m16", "little_endian.aiff", "-c:a", "pcm_s16le", "-f", "aiff")
    for subtype in ("ULAW", "ALAW", "PCM_U8", "PCM_32", "DOUBLE"):
        sf.write(OUT / f"{subtype.lower()}.wav", signal(8000, 2), 8000, subtype=subtype)
    sf.write(OUT / "extensible.wav", signal(8000, 2), 8000, format="WAVEX", subtype="PCM_24")
    sf.write(OUT / "rf64.wav", signal(8000, 1), 8000, format="RF64", subtype="PCM_16")
    pipe("ffmpeg -v error -y -i m16.wav -c:a pcm_s16le -f wav - > ffmpeg_pipe.wav")
    pipe("tail -c 9600 m16.wav | sox -t raw -r 16000 -e signed -b 16 -c 1 - -t wav - 2> /dev/null | cat > sox_pipe.wav")
    make_files_with_pictures()
    (OUT / "s48.wav").unlink()
    (OUT / "s44.wav").unlink()


def make_files_with_pictures():
    ffmpeg("-f", "lavfi", "-i", "color=red:s=32x32:d=0.04", "-frames:v", 1, "cover.png")
    both = ["-map", "0:0", "-map", "1:0", "-c", "copy", "-bitexact"]
    for source, options in (("lame.mp3", ["-id3v2_version", 3]), ("s16.flac", []), ("aac.m4a", [])):
        ffmpeg("-i", source, "-i", "cover.png", *both, *options, "-disposition:v", "attached_pic", "cover" + pathlib.Path(source).suffix)
    (OUT / "cover.png").unlink()
    picture = ["-f", "lavfi", "-i", "testsrc=s=32x32:d=0.2", "-i", "m16.wav", "-bitexact"]
    ffmpeg(*picture, "-c:v", "mpeg4", "-c:a", "aac", "video.mp4")
    ffmpeg(*picture, "-c:v", "libvpx", "-c:a", "libopus", "video.webm")


def read(path):
    """Samples [n, channels], rate, and who read them: libsndfile if it can at the stored rate, else the ffmpeg program."""
    try:
        x, rate = sf.read(path, always_2d=True)
        # libsndfile decodes Opus at the encoder's input rate, and guesses the length of MP3 without a frame count.
        if path.name not in ("voice.opus", "no_count.mp3"):
            return x, rate, "libsndfile"
    except (sf.LibsndfileError, ValueError):
        pass  # unknown to it, or a FLAC stream without a length
    probe = subprocess.run(["ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=channels,sample_rate",
                            "-of", "json", path], check=True, capture_output=True)
    stream = json.loads(probe.stdout)["streams"][0]
    decoder = ["-c:a", "libopus", "-request_sample_fmt", "flt"] if "opus" in path.name else []
    raw = subprocess.run(["ffmpeg", "-v", "error", *decoder, "-i", path, "-map", "0:a", "-f", "f64le", "-"], check=True,
                         capture_output=True)
    return np.frombuffer(raw.stdout).reshape(-1, stream["channels"]), int(stream["sample_rate"]), "ffmpeg"


def write_oracles():
    table = {}
    for path in sorted(OUT.iterdir()):
        if path.suffix == ".json" or path.stem == "video":
            continue
        x, rate, reader = read(path)
        # The ffmpeg program leaves the padding behind the end that MP4 declares. A fragmented file declares no delay.
        mp4_end = {".m4a": round(rate * SECONDS), ".mp4": round(rate * SECONDS) + 1024}
        mono = x.mean(axis=1)[: mp4_end.get(path.suffix)]
        table[path.name] = {"sample_rate": rate, "channels": x.shape[1], "samples": len(mono), "reader": reader,
                            "stride": STRIDE, "values": mono[::STRIDE].tolist()}
    (OUT / "decoded.json").write_text(json.dumps(table, indent=0) + "\n")


def write_resampled():
    cases = []
    for rate in RESAMPLE_RATES:
        for length in RESAMPLE_LENGTHS:
            i = np.arange(length, dtype=np.int64)
            x = (31 * i * i + 7919 * i) % 2003 / 1024 - 1
            y = resample_poly(x, 16000, rate)
            keep = sorted(set(range(min(4, len(y)))) | set(range(0, len(y), 977)) | set(range(max(0, len(y) - 4), len(y))))
            cases.append({"rate": rate, "length": length, "output": len(y), "at": keep, "values": y[keep].tolist()})
    (OUT / "resampled.json").write_text(json.dumps({"up": 16000, "cases": cases}, indent=0) + "\n")


if __name__ == "__main__":
    OUT.mkdir(parents=True, exist_ok=True)
    make_files()
    write_oracles()
    write_resampled()

"""Spoken digits and words: a bank of espeak-ng clips, and utterances put together from them.

A clip is one digit, one word, or a run of 2 to 5 digits spoken in one go, at 16 kHz. Voices are an accent with a variant;
`HELD_VARIANTS` and `HELD_ACCENTS` are never heard in training.
"""
import argparse
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from .vocabulary import DIGIT_WORDS, WORDS

RATE = 16000
ESPEAK_RATE = 22050
ACCENTS = ["en-gb", "en-us", "en-gb-x-rp", "en-029", "en-us-nyc", "en-gb-x-gbcwmd", "en-gb-x-gbclan"]
HELD_ACCENTS = ["en-gb-scotland"]
VARIANTS = ("m1 m2 m3 m4 m6 m7 f2 f3 f5 Alex Alicia Andrea Annie Antonio David Denis Ed Edward Gene Hugo Jacky John Lee Marco Max "
            "Michael Mike Pablo Rob Steph Zac victor travis shelby norbert sandro linda grandpa klatt2 klatt4 adam steph boris").split()
HELD_VARIANTS = ["f4", "m5", "Andy", "Linda", "Mario", "paul", "f1", "m8"]


def known(variants):
    """The variants that this espeak-ng has; naming another silently falls back to the plain voice."""
    listing = subprocess.run(["espeak-ng", "--voices=variant"], capture_output=True, text=True, check=True).stdout
    there = {word[3:] for line in listing.splitlines() for word in line.split() if word.startswith("!v/")}
    return [variant for variant in variants if variant in there]


def espeak(text, voice, speed, pitch):
    """int16 samples at 22,050 Hz, silence at both ends trimmed to about 10 and 20 ms."""
    wav = subprocess.run(["espeak-ng", "-v", voice, "-s", str(speed), "-p", str(pitch), "--stdout", text],
                         capture_output=True, check=True).stdout
    samples = np.frombuffer(wav[44:len(wav) - (len(wav) - 44) % 2], np.int16)
    loud = np.flatnonzero(np.abs(samples.astype(np.int32)) > 328)
    if len(loud) == 0:
        return samples[:0]
    return samples[max(0, loud[0] - 220):loud[-1] + 440]


def to_16k(samples):
    from scipy.signal import resample_poly
    return resample_poly(samples.astype(np.float32) / 32768, 320, 441).astype(np.float32)


class Speaker:
    """Draws voices: `held` picks those that training never hears."""

    def __init__(self, seed, held):
        self.random = random.Random(seed)
        self.held = held
        self.variants = known(HELD_VARIANTS if held else VARIANTS)

    def voice(self):
        r = self.random
        if self.held:
            return r.choice(ACCENTS + HELD_ACCENTS * 3) + "+" + r.choice(self.variants)
        return r.choice(ACCENTS) + ("+" + r.choice(self.variants) if r.random() < .85 else "")

    def job(self, text):
        return text, self.voice(), self.random.randint(110, 200), self.random.randint(25, 75)


def make_bank(seed, held, digits, words, runs):
    """[(labels, int16 samples at 16 kHz)] with labels a tuple of digits 0..9, or ('w', index) for a word."""
    speaker = Speaker(seed, held)
    r = speaker.random
    jobs = [((i % 10,), speaker.job(DIGIT_WORDS[i % 10])) for i in range(digits)]
    jobs += [(("w", i % len(WORDS)), speaker.job(WORDS[i % len(WORDS)])) for i in range(words)]
    for _ in range(runs):
        labels = tuple(r.randrange(10) for _ in range(r.randint(2, 5)))
        separator = r.choice([" ", " ", ", "])
        jobs.append((labels, speaker.job(separator.join(DIGIT_WORDS[d] for d in labels))))

    def speak(job):
        labels, arguments = job
        samples = to_16k(espeak(*arguments))
        return labels, np.clip(samples * 32767, -32768, 32767).astype(np.int16)

    with ThreadPoolExecutor(2) as pool:
        clips = list(pool.map(speak, jobs))
    return [clip for clip in clips if 1000 < len(clip[1]) < 5 * RATE]


class Utterances:
    """Draws utterances: silence, one to five digits or one word with gaps, silence, loudness and noise."""

    def __init__(self, bank, seed, words=.25, max_digits=5, vary=False):
        """`vary`: clips are played a little slower or faster, as other voices would, and filtered: for training."""
        self.vary = vary
        self.random = random.Random(seed)
        self.noise = np.random.default_rng(seed)
        self.words, self.max_digits = words, max_digits
        self.by_digit = [[c for c in bank if c[0] == (d,)] for d in range(10)]
        self.by_word = [[c for c in bank if c[0] == ("w", w)] for w in range(len(WORDS))]
        self.runs = [c for c in bank if len(c[0]) > 1 and c[0][0] != "w"]

    def clip(self, clips):
        labels, samples = self.random.choice(clips)
        if self.vary and self.random.random() < .6:
            factor = self.random.uniform(.85, 1.18)
            at = np.arange(0, len(samples) - 1, factor)
            samples = np.interp(at, np.arange(len(samples)), samples).astype(np.int16)
        return labels, samples

    def lead(self):
        """Samples of silence in front: training also hears recordings that begin at once."""
        if self.vary and self.random.random() < .25:
            return self.random.randint(0, 300)
        return self.random.randint(300, 5000)

    def sample(self, labels=None):
        """(parts, labels): parts alternate silence lengths and clips; see `render`."""
        r = self.random
        if labels is None:
            if r.random() < self.words:
                labels = ("w", r.randrange(len(WORDS)))
            elif self.max_digits > 1 and r.random() < .4:
                clip = self.clip(self.runs)
                if len(clip[0]) <= self.max_digits:
                    return [self.lead(), clip, r.randint(300, 6400)], clip[0]
                labels = (r.randrange(10),)
            else:
                labels = tuple(r.randrange(10) for _ in range(r.randint(1, self.max_digits)))
        if labels[0] == "w":
            return [self.lead(), self.clip(self.by_word[labels[1]]), r.randint(300, 6400)], labels
        parts = [self.lead()]
        for d in labels:
            parts += [self.clip(self.by_digit[d]), r.randint(400, 6400)]
        return parts, labels

    def length(self, parts):
        return sum(p if isinstance(p, int) else len(p[1]) for p in parts)

    def render(self, parts, length=None):
        """float32 samples, and [(first sample, last, label)] of the single clips; `length` shares missing silence out at random."""
        r = self.random
        parts = list(parts)
        missing = (length or 0) - self.length(parts)
        if missing > 0:
            front = 0 if self.vary and r.random() < .25 else r.randint(0, missing)
            parts[0] += front
            parts[-1] += missing - front
        pieces, spans, at = [], [], 0
        for p in parts:
            if isinstance(p, int):
                pieces.append(np.zeros(p, np.float32))
                at += p
                continue
            samples = p[1].astype(np.float32) / 32768
            pieces.append(samples * (r.uniform(.6, 1) / (np.abs(samples).max() + 1e-6)))
            spans.append((at, at + len(samples), p[0]))
            at += len(samples)
        x = np.concatenate(pieces)
        if self.vary and r.random() < .5:
            tilt = r.uniform(-.6, .6)
            x[1:] = x[1:] + tilt * x[:-1]
        x *= r.uniform(.1, .95) / (np.abs(x).max() + 1e-6)
        if r.random() < .7:
            x += self.noise.standard_normal(len(x)).astype(np.float32) * 10 ** r.uniform(-4, -2)
        return x, spans


def main():
    parser = argparse.ArgumentParser(description="Make the bank of clips: python -m nano.speech --out bank.npz")
    parser.add_argument("--out", required=True)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0, help="1: about 17,000 clips for training")
    arguments = parser.parse_args()
    count = lambda n: int(n * arguments.scale)
    banks = {
        "train": make_bank(arguments.seed, False, count(5000), count(6000), count(6000)),
        "seen": make_bank(arguments.seed + 1, False, count(500), count(600), count(600)),
        "unseen": make_bank(arguments.seed + 2, True, count(500), count(600), count(600)),
    }
    np.save(arguments.out, np.array([banks], dtype=object), allow_pickle=True)
    print({name: len(bank) for name, bank in banks.items()})


if __name__ == "__main__":
    main()

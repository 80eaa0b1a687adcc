"""Fresh examples for evaluating: media in files, a question as a user would put it, and the one right answer.

Everything is drawn from seeds that training does not use, and handed over as people hand it to the engine: PNG files, and WAV files
at the rate that espeak-ng speaks in. What may be asked, and how pictures and recordings look, comes from the modules that
training uses, too. Needs numpy, Pillow and espeak-ng, but neither torch nor scipy.
"""
import os
import random
import wave
import zlib
from dataclasses import dataclass, field

import numpy as np
from PIL import Image

from . import speech, tasks
from .family import PHI4MM
from .pictures import Painter, find_fonts, make_textures
from .vocabulary import DIGIT_WORDS, WORDS

POOL = 30               # clips of each digit, for recordings of several
SHORTEST_CLIP = 1400    # samples; shorter means that the voice swallowed the word

# The fonts of the packages that tools/setup.sh installs for the tests: DejaVu's core, Liberation, FreeFont and Cantarell.
FEW_FONTS = {
    family + style for family, styles in (
        ("DejaVuSans", (".ttf", "-Bold.ttf")), ("DejaVuSansMono", (".ttf", "-Bold.ttf")), ("DejaVuSerif", (".ttf", "-Bold.ttf")),
        ("FreeMono", (".ttf", "Bold.ttf", "Oblique.ttf", "BoldOblique.ttf")),
        ("FreeSans", (".ttf", "Bold.ttf", "Oblique.ttf", "BoldOblique.ttf")),
        ("FreeSerif", (".ttf", "Bold.ttf", "Italic.ttf", "BoldItalic.ttf")),
        ("Cantarell-", ("Bold.otf", "ExtraBold.otf", "Light.otf", "Regular.otf")),
        *((f"Liberation{name}-", ("Regular.ttf", "Bold.ttf", "Italic.ttf", "BoldItalic.ttf"))
          for name in ("Mono", "Sans", "SansNarrow", "Serif"))) for style in styles}


class MissingFonts(Exception):
    pass


def choose_fonts(few):
    """{'seen': [...], 'unseen': [...]}: all that are installed, or exactly those of FEW_FONTS."""
    fonts = find_fonts()
    if few:
        fonts = {kind: [p for p in paths if os.path.basename(p) in FEW_FONTS] for kind, paths in fonts.items()}
        missing = FEW_FONTS - {os.path.basename(p) for paths in fonts.values() for p in paths}
        if missing:
            raise MissingFonts("these fonts are not installed: " + ", ".join(sorted(missing)))
    if not fonts["seen"] or not fonts["unseen"]:
        raise MissingFonts(f"{len(fonts['seen'])} fonts of training and {len(fonts['unseen'])} others are installed")
    return fonts


@dataclass
class Example:
    question: str                              # "" where the media alone ask
    answer: str
    media: list = field(default_factory=list)  # [("image" or "audio", path)], in the order of the prompt
    group: str = ""                            # what part of its skill this is
    form: str = "text"                         # "text": the answer to the letter; "json": an object with these keys

    def messages(self):
        """The request as a message list."""
        parts = [{"type": kind + "_url", kind + "_url": {"url": path}} for kind, path in self.media]
        if self.question:
            parts.append({"type": "text", "text": self.question})
        return [{"role": "user", "content": parts}]


def row_seed(*names):
    """A seed for what is named, so that a row's examples do not depend on which other rows are made."""
    return zlib.crc32(" ".join(map(str, names)).encode())


class Recordings:
    """Utterances of one kind of voices at espeak-ng's own rate. Words, lone digits and runs of digits are spoken anew each time;
    mixed recordings take their digits from a pool that fills up, as each call of espeak-ng costs some hundredths of a second."""

    def __init__(self, seed, held):
        self.speaker = speech.Speaker(seed, held)
        self.random = random.Random(seed + 1)
        self.utterances = speech.Utterances([], seed + 2)

    def clip(self, labels, text):
        while True:
            samples = speech.espeak(*self.speaker.job(text))
            if SHORTEST_CLIP < len(samples) < 5 * speech.ESPEAK_RATE:
                return labels, samples

    def parts(self, labels):
        """Silences (in samples at the rate of training) and clips in turn."""
        r, u = self.random, self.utterances
        if labels[0] == "w":
            alone = self.clip(labels, WORDS[labels[1]])
        elif len(labels) == 1 or r.random() < .4:
            alone = self.clip(labels, r.choice([" ", " ", ", "]).join(DIGIT_WORDS[d] for d in labels))
        else:
            for digit in labels:
                if len(u.by_digit[digit]) < POOL:
                    u.by_digit[digit].append(self.clip((digit,), DIGIT_WORDS[digit]))
            return u.sample(labels)[0]
        return [r.randint(300, 5000), alone, r.randint(300, 6400)]

    def render(self, labels):
        """int16 samples at speech.ESPEAK_RATE."""
        parts = [p * speech.ESPEAK_RATE // speech.RATE if isinstance(p, int) else p for p in self.parts(labels)]
        samples, _ = self.utterances.render(parts)
        return np.clip(np.round(samples * 32767), -32768, 32767).astype(np.int16)


def write_wav(path, samples, channels=1, rate=speech.ESPEAK_RATE):
    """int16 samples, interleaved where there are several channels."""
    with wave.open(path, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.astype("<i2").tobytes())


def read_wav(path):
    """int16 samples of a file of one channel."""
    with wave.open(path, "rb") as file:
        return np.frombuffer(file.readframes(file.getnframes()), "<i2")


class Maker:
    """Draws the examples of one row of a table after another; `row` begins the next. Files go to `folder`."""

    def __init__(self, seed, folder, fonts, textures=704, family=PHI4MM):
        self.seed, self.folder, self.fonts, self.family = seed, folder, fonts, family
        self.files = 0
        self.painter = Painter(fonts["seen"], seed)
        # Backgrounds of its own: those of training are made from another seed.
        self.painter.textures = make_textures(np.random.default_rng(row_seed(seed, "textures")), textures)
        self.row("")

    def row(self, *names):
        """What follows depends on the seed and these names alone."""
        self.names = names
        seed = row_seed(self.seed, *names)
        self.random = random.Random(seed)
        self.painter.random, self.painter.rng = random.Random(seed + 1), np.random.default_rng(seed + 1)
        self.recordings, self.turns = {}, {}

    def cycle(self, name, options):
        """One option after another, so that few examples have the same mixture as many."""
        self.turns[name] = turn = self.turns.get(name, -1) + 1
        return options[turn % len(options)]

    def path(self, suffix):
        self.files += 1
        return os.path.join(self.folder, f"{self.files:06d}.{suffix}")

    # ------------------------------------------------------------------------------------------------------ media
    def picture(self, kind, facts, size=None, color=False):
        """(medium, what it shows). size: (width, height), else a square of up to a crop's side; `color`: not a gray one."""
        family = self.family
        side = family.crop if self.random.random() < .7 else self.random.randint(family.crop // 2, family.crop - 1)
        width, height = size or (side, side)
        scale = family.reduction(*size) if size else side / family.crop
        painter = self.painter
        painter.fonts = self.fonts[kind]
        # The painter draws heights times scale; the least height holds in pixels of this picture, or of its crops if that is more.
        least = min(scale, 1)
        painter.heights = (family.heights[0] / least, family.heights[1])
        painter.word_heights = (family.word_heights[0] / least, family.word_heights[1])
        while True:
            pixels, _, shown = painter.sample(width, height, scale, facts=facts)
            if shown["color"] or not color:
                break
        path = self.path("png")
        Image.fromarray(pixels).save(path, compress_level=1)
        return ("image", path), shown

    def recording(self, kind, labels):
        if kind not in self.recordings:
            self.recordings[kind] = Recordings(row_seed(self.seed, *self.names, kind), kind == "unseen")
        path = self.path("wav")
        write_wav(path, self.recordings[kind].render(labels))
        return "audio", path

    # ------------------------------------------------------------------------------------------------ what is shown
    def number(self, digits=None):
        digits = digits or self.random.randint(1, 3)
        return {"kind": "number", "text": str(self.random.randint(10 ** (digits - 1) if digits > 1 else 0, 10 ** digits - 1))}

    def word(self):
        return {"kind": "word", "text": self.random.choice(WORDS)}

    def anything(self):
        kind = self.cycle("anything", ["shape", "number", "shape", "word"])
        return {"kind": "shape"} if kind == "shape" else self.number() if kind == "number" else self.word()

    def digits(self, count=None):
        return tuple(self.random.randrange(10) for _ in range(count or self.cycle("digits", [1, 2, 3, 4, 5])))

    def spoken_word(self):
        return "w", self.random.randrange(len(WORDS))

    def other(self, labels):
        """Labels that are not `labels` but easily taken for them: another word; or one digit changed, the digits reversed, one digit
        left out, or another number of as many digits."""
        r = self.random
        if labels[0] == "w":
            return "w", r.choice([w for w in range(len(WORDS)) if w != labels[1]])
        while True:
            u, digits = r.random(), list(labels)
            if u < .6:
                digits[r.randrange(len(digits))] = r.randrange(10)
            elif u < .75:
                digits.reverse()
            elif u < .85 and len(digits) > 1:
                del digits[r.randrange(len(digits))]
            else:
                digits = list(self.digits(len(digits)))
            if tuple(digits) != labels:
                return tuple(digits)

    # ----------------------------------------------------------------------------------------------------- examples
    def drawn(self, rows, json, alone=False):
        """An Example without media: the first of `rows()`, called until it has one of the wanted form. alone: the question may be
        empty, because the media ask."""
        while True:
            for _, question, answer in rows():
                if (question or alone) and answer.startswith("{") == json:
                    return Example(question, answer, form="json" if json else "text")

    def about_picture(self, kind, skill, facts, json=False, size=None):
        """A question of `skill` about a picture of `facts`."""
        medium, shown = self.picture(kind, facts, size, color=skill in ("color", "describe"))
        example = self.drawn(lambda: [row for row in tasks.picture_questions(self.random, shown, float(json)) if row[0] == skill],
                             json, alone=True)
        example.media, example.group = [medium], shown["kind"]
        return example

    def about_speech(self, kind, labels, json=False):
        example = self.drawn(lambda: [tasks.speech_question(self.random, labels, float(json))], json, alone=True)
        example.media = [self.recording(kind, labels)]
        example.group = "word" if labels[0] == "w" else f"{len(labels)} digits" if len(labels) > 1 else "1 digit"
        return example

    def text(self, question, json=False):
        """`question`: one of the functions of tasks.py, such as sum_question."""
        return self.drawn(lambda: [tasks.ask_text(self.random, question, self.family.hears)], json)

    def agree(self, kind):
        """A picture and a recording, in either order, that say the same in half of the cases."""
        facts = self.cycle("agree", [self.number, self.word, self.number, self.word, self.number])()
        labels = tasks.spoken_labels(facts["text"])
        same = self.random.random() < .5
        media = [self.picture(kind, facts)[0], self.recording(kind, labels if same else self.other(labels))]
        if self.random.random() < .4:
            media.reverse()
        _, question, answer = tasks.agree_question(self.random, same)
        return Example(question, answer, media, group=facts["kind"])

    def larger(self, kind):
        """Two pictures with different numbers."""
        first = second = self.number()
        while first["text"] == second["text"]:
            second = self.number()
        media = [self.picture(kind, first)[0], self.picture(kind, second)[0]]
        _, question, answer = tasks.larger_question(self.random, int(first["text"]), int(second["text"]))
        alike = len(first["text"]) == len(second["text"])
        return Example(question, answer, media, group="as many digits" if alike else "not as many digits")

    def json(self, kind):
        """Any question whose answer has a JSON form, asked for that form."""
        spoken = ["digits", "spoken_word"] if self.family.hears else []
        skill = self.cycle("json", ["number", "word", "color", "shape", "count", "describe", *spoken, "sum", "opposite", "repeat", "compare"])
        if skill in ("digits", "spoken_word"):
            example = self.about_speech(kind, self.spoken_word() if skill == "spoken_word" else self.digits(), json=True)
        elif skill in ("sum", "opposite", "repeat", "compare"):
            example = self.text(getattr(tasks, skill + "_question"), json=True)
        else:
            facts = (self.number() if skill == "number" else self.word() if skill == "word" else {"kind": "shape"}
                     if skill in ("shape", "count") else self.anything())
            example = self.about_picture(kind, skill, facts, json=True)
        example.group = skill
        return example

"""Training batches: pictures, utterances and conversations about them, made by a worker process."""
import random
from collections import deque

import numpy as np
import torch

from . import tasks
from .pictures import Painter
from .speech import Utterances
from .views import FIELDS, cells_needed, centre_in_crops, crop_views, square_views

def encode_turns(tokenizer, turns, media):
    """ids after the media of the first question, and at each place the id wanted next (-100: none)."""
    ids, wanted = [], []
    for i, (_, question, answer) in enumerate(turns):
        if i:
            again = tokenizer.again()
            ids += again
            wanted += [-100] * len(again)
        prompt, reply = tokenizer.question(question, media and i == 0), tokenizer.reply(answer)
        ids += prompt + reply
        wanted += [-100] * (len(prompt) - 1) + reply + [-100]
    return ids[:-1], wanted[:-1]


def pack_text(tokenizer, rows, r, media=True):
    """dict of text tensors for a batch; a prefix common to all rows stands before the media. media: there are some."""
    system = r.choice(tasks.SYSTEM_PROMPTS) if r.random() < .1 else None
    coded = [encode_turns(tokenizer, turns, media) for turns in rows]
    L = max(len(ids) for ids, _ in coded)
    ids, wanted = np.zeros((len(rows), L), np.int64), np.full((len(rows), L), -100, np.int64)
    for i, (a, b) in enumerate(coded):
        ids[i, :len(a)], wanted[i, :len(b)] = a, b
    return {"prefix": torch.tensor(tokenizer.prefix(system, media)), "between": torch.tensor(tokenizer.between(), dtype=torch.long),
            "ids": torch.from_numpy(ids), "wanted": torch.from_numpy(wanted)}


def picture_tensors(views):
    t = torch.from_numpy
    return {"patches": t(views.patches), "patch_positions": t(views.positions), "patch_weights": t(views.weights), "labels": t(views.labels),
            "order": t(views.order), "token_weights": t(views.token_weights), "length": views.length, "rows": (views.local_rows, views.view_rows),
            "crops": views.crops}


class Pictures:
    """Pictures of one size in groups of alike need: (side, cells kept, how many)."""

    def __init__(self, fonts, seed, side, batch, replay, mix, family, pool_bytes=250e6):
        self.family = family
        heights, word_heights = family.windows[side]
        self.painter = Painter(fonts, seed, mix, heights, word_heights=word_heights)
        self.side, self.batch, self.replay = side, batch, replay
        self.pool, self.limit = [], max(batch, int(pool_bytes / (side * side * 3)))
        self.random, self.rng = random.Random(seed + 7), np.random.default_rng(seed + 7)
        full = (side // 28) ** 2
        self.sizes = [k for k in (32, 48, 64, 80, 104, 136, 184) if k < full] + [full] if full > 64 else [full]
        self.queues = {k: deque() for k in self.sizes}

    def paint(self):
        """A square; of the family that pads pictures on both sides, sometimes another shape within white."""
        if not self.family.centred or self.side < self.family.crop or self.random.random() < .75:
            return self.painter.sample(self.side, self.side)
        w, h = self.side, self.random.randint(self.side // 2 + 1, self.side - 1)  # longer ones take more crops
        item = self.painter.sample(*((w, h) if self.random.random() < .5 else (h, w)))
        return centre_in_crops([item], 1, 1, self.side)[0]

    def draw(self):
        if len(self.pool) < 2 * self.batch or self.random.random() < 1 / self.replay:
            item = self.paint()
            item = item + (cells_needed(item[0], item[1]),)
            if len(self.pool) < self.limit:
                self.pool.append(item)
            else:
                self.pool[self.random.randrange(self.limit)] = item
            return item
        return self.random.choice(self.pool)

    def next(self, full=False):
        """(Views, facts) of the next full group."""
        if full:
            return square_views(self.rng, [self.draw()[:3] for _ in range(self.batch)], 10 ** 6, self.family)
        while True:
            item = self.draw()
            size = next(k for k in self.sizes if item[3] <= k - 8 or k == self.sizes[-1])
            queue = self.queues[size]
            queue.append(item[:3])
            want = self.batch if len(self.sizes) == 1 else max(4, int(self.batch * (72 / size) ** 1.25))
            if len(queue) >= want:
                items = [queue.popleft() for _ in range(want)]
                return square_views(self.rng, items, size, self.family)


def about_picture(r, facts, turns=3):
    questions = tasks.picture_questions(r, facts)
    first = questions[:2] if facts["kind"] == "shape" else questions[:1]
    rest = questions[len(first):]
    # The main question first in most; then some of the others.
    picked = [r.choice(first)] if r.random() < .6 or not rest else [r.choice(rest)]
    others = [q for q in questions if q is not picked[0]]
    r.shuffle(others)
    return picked + others[:r.randint(0, turns - 1)]


def padded_utterances(utterances, batch, pool, r):
    """Endless (samples [B, n], labels, spans) in groups of alike length; what is missing is silence inside the recording."""
    while True:
        items = sorted((utterances.sample() for _ in range(pool * batch)), key=lambda i: utterances.length(i[0]))
        order = list(range(pool))
        r.shuffle(order)
        for k in order:
            group = items[k * batch:(k + 1) * batch]
            yield render_group(utterances, group)


def render_group(utterances, group):
    length = max(utterances.length(parts) for parts, _ in group)
    rendered = [utterances.render(parts, length) for parts, _ in group]
    return np.stack([x for x, _ in rendered]), [labels for _, labels in group], [spans for _, spans in rendered]


def frame_targets(spans, tokens):
    """int64 [B, tokens]: digit + 1, 11 + word, 0 silence, -100 inside a run, by the middle of each 80 ms token."""
    out = np.zeros((len(spans), tokens), np.int64)
    for i, row in enumerate(spans):
        for a, b, labels in row:
            first, last = max(0, (a - 640) // 1280 + 1), (b - 640) // 1280 + 1
            out[i, first:last] = 11 + labels[1] if labels[0] == "w" else labels[0] + 1 if len(labels) == 1 else -100
    return out


def audio_tensors(samples, labels, spans):
    frames = (samples.shape[1] - 400) // 160 + 1
    ctc = [[11 + l[1]] if l[0] == "w" else [d + 1 for d in l] for l in labels]
    return {"samples": torch.from_numpy(samples), "frame_targets": torch.from_numpy(frame_targets(spans, -(-frames // 8))),
            "ctc": torch.tensor([c for row in ctc for c in row]), "ctc_lengths": torch.tensor([len(row) for row in ctc])}


class Stream(torch.utils.data.IterableDataset):
    """`make(seed)` returns an endless iterator of batches; it runs in the worker."""

    def __init__(self, make, seed):
        self.make, self.seed = make, seed

    def __iter__(self):
        torch.set_num_threads(1)
        worker = torch.utils.data.get_worker_info()
        yield from self.make(self.seed * 1000 + (worker.id if worker else 0))


def text_batches(tokenizer, batch):
    hears = tokenizer.family.hears

    def make(seed):
        r = random.Random(seed)
        while True:
            rows = [[tasks.text_question(r, hears) for _ in range(r.choice((1, 1, 2, 3)))] for _ in range(batch)]
            yield pack_text(tokenizer, rows, r, media=False)
    return make


def picture_batches(tokenizer, fonts, plan, replay=2.5, text=True):
    """`plan`: [(share, side, batch, mix, full)]."""
    def make(seed):
        r = random.Random(seed)
        sources = [Pictures(fonts, seed + i, side, batch, replay, mix, tokenizer.family) for i, (_, side, batch, mix, _) in enumerate(plan)]
        while True:
            i = r.choices(range(len(plan)), [p[0] for p in plan])[0]
            views, facts = sources[i].next(full=plan[i][4])
            out = {"picture": picture_tensors(views)}
            if text:
                rows = [about_picture(r, f) if r.random() > .03 else [tasks.text_question(r, tokenizer.family.hears)] for f in facts]
                out.update(pack_text(tokenizer, rows, r))
            yield out
    return make


def audio_batches(tokenizer, bank, batch, pool=10, text=True, vary=False):
    def make(seed):
        r = random.Random(seed)
        utterances = Utterances(bank, seed, vary=vary)
        for samples, labels, spans in padded_utterances(utterances, batch, pool, r):
            out = {"audio": audio_tensors(samples, labels, spans)}
            if text:
                rows = [[tasks.speech_question(r, l)] + ([tasks.text_question(r)] if r.random() < .1 else []) for l in labels]
                out.update(pack_text(tokenizer, rows, r))
            yield out
    return make


def changed(r, facts):
    """Spoken labels that differ from what the picture shows: one digit, a swap, one more or less, or anything."""
    if facts["kind"] == "word":
        i = tasks.WORDS.index(facts["text"])
        return ("w", r.choice([w for w in range(len(tasks.WORDS)) if w != i]))
    digits = [int(c) for c in facts["text"]]
    u = r.random()
    if u < .6:
        i = r.randrange(len(digits))
        digits[i] = r.choice([d for d in range(10) if d != digits[i]])
        return tuple(digits)
    if u < .75 and len(digits) > 1 and digits[0] != digits[-1]:
        return tuple(reversed(digits)) if digits != digits[::-1] else tuple(digits[:-1])
    while True:
        other = tuple(int(c) for c in tasks.number_text(r))
        if other != tuple(digits):
            return other


def agree_batches(tokenizer, fonts, bank, batch, full=False, vary=False):
    """Pictures with recordings that say the same or something else."""
    def make(seed):
        r = random.Random(seed)
        source = Pictures(fonts, seed, tokenizer.family.crop, batch, 2.5, (.6, .4, 0), tokenizer.family)
        utterances = Utterances(bank, seed, vary=vary)
        while True:
            views, facts = source.next(full)
            rows, spoken = [], []
            for f in facts:
                labels = shown = tasks.spoken_labels(f["text"])
                if r.random() < .5:
                    # Close to what is shown; or anything at all, longer than what pictures show.
                    labels = changed(r, f) if r.random() < .75 else utterances.sample()[1]
                same = labels == shown
                spoken.append(utterances.sample(labels))
                of_speech = tasks.speech_question(r, labels)
                of_picture = tasks.picture_questions(r, f)[0]
                agree = tasks.agree_question(r, same)
                u = r.random()
                if u < .55:
                    turns = [agree]
                elif not of_speech[1] or u < .75:
                    turns = [of_picture]
                else:
                    turns = [of_speech]
                # What was read or heard before makes the comparison easier, and what is compared is asked about afterwards.
                if turns[0] is not agree and r.random() < .7 and agree[1]:
                    turns.append(agree)
                elif r.random() < .4 and of_speech[1]:
                    turns += [of_speech, of_picture] if r.random() < .5 else [of_speech]
                rows.append(turns)
            samples, labels, spans = render_group(utterances, spoken)
            out = {"picture": picture_tensors(views), "audio": audio_tensors(samples, labels, spans), "audio_first": r.random() < .4}
            out.update(pack_text(tokenizer, rows, r))
            yield out
    return make


def pair_batches(tokenizer, fonts, batch, full=False):
    """Two pictures with numbers: which is larger; sometimes what one of them shows."""
    def make(seed):
        r = random.Random(seed)
        source = Pictures(fonts, seed, tokenizer.family.crop, 2 * batch, 2.5, (1, 0, 0), tokenizer.family)
        while True:
            views, facts = source.next(full)
            n = len(facts) // 2
            if n < 2:
                continue
            rows = []
            # Mostly numbers of as many digits: the others are told apart by their lengths.
            order = r.sample(range(len(facts)), len(facts))
            if r.random() < .75:
                order.sort(key=lambda i: len(facts[i]["text"]))
            views, facts = take_pairs(views, order[:2 * n]), [facts[i] for i in order[:2 * n]]
            for i in range(n):
                a, b = int(facts[2 * i]["text"]), int(facts[2 * i + 1]["text"])
                if a == b:
                    rows.append([("number", "What numbers are shown?", f"{a} and {b}")])
                    continue
                u = r.random()
                turns = [tasks.larger_question(r, a, b)] if u < .75 else [("number", tasks.spelled(r, "which numbers are shown", "?"), f"{a} and {b}")]
                rows.append(turns)
            out = {"picture": picture_tensors(views), "pictures": 2}
            out.update(pack_text(tokenizer, rows, r))
            yield out
    return make


def take_pairs(views, order):
    """The pictures of `order`, of which every two are a pair."""
    for name in FIELDS:
        setattr(views, name, getattr(views, name)[order])
    return views


def crop_size(r, cw, ch, family):
    """A size that the processor scales or pads to cw x ch crops."""
    w, h = family.crop * cw, family.crop * ch
    if family.centred:
        # One crop across the shorter side, of which the shape fills a part; what is nearly square would take fewer crops.
        least = 1 + family.crop * max(cw, ch) // (max(cw, ch) + 1)
        return (w, r.randint(least, h)) if cw > ch else (r.randint(least, w), h)
    # One direction is filled; the other may end early, by at most one crop.
    if r.random() < .75:
        if cw > ch or (cw == ch and r.random() < .5):
            h -= r.randint(0, 300 if ch == 1 else 440)
        else:
            w -= r.randint(0, 300 if cw == 1 else 440)
    return w, h


def crop_batches(tokenizer, fonts, tokens=1600):
    """Pictures of other shapes and sizes, cropped and seen whole as the processor does; batches of about `tokens` patches / 4."""
    family = tokenizer.family

    def make(seed):
        r = random.Random(seed)
        rng = np.random.default_rng(seed)
        painter = Painter(fonts, seed, (.5, .3, .2), family.heights, word_heights=family.word_heights)
        while True:
            cw, ch = r.choice(family.forms)
            w, h = crop_size(r, cw, ch, family)
            n = max(2, tokens // (100 * (cw * ch + 1)))
            # What is drawn grows with the picture: it has to be legible in the global view, too.
            grown = r.uniform(1, min(max(cw, ch), 2.2))
            items = [painter.sample(w, h, grown) for _ in range(n)]
            views, facts = crop_views(rng, items, cw, ch, family)
            out = {"picture": picture_tensors(views)}
            out.update(pack_text(tokenizer, [about_picture(r, f) for f in facts], r))
            yield out
    return make


def mixed_batches(makers):
    """`makers`: [(share, maker)]; the kinds come in the same order whatever the seed, so that processes wait little for each other."""
    def make(seed):
        r = random.Random(1)
        streams = [maker(seed + 31 * i) for i, (_, maker) in enumerate(makers)]
        while True:
            yield next(streams[r.choices(range(len(makers)), [s for s, _ in makers])[0]])
    return make

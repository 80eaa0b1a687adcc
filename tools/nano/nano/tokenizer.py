"""The nano tokenizer: the o200k ranks that its world needs, everything else spelled in smaller pieces.

A byte-level BPE cut from the o200k ranks. Kept are the 256 bytes, every token that o200k itself uses on the tasks' texts, and
the tokens that those are merged from; tokens of two or three digits are left out, so that numbers are read digit by digit.
Special tokens follow in the released order: id = rank of the first + (released id - 199998).
"""
import base64
import gzip
import json
import os
import re

from .family import PHI3V, PHI4MM
from .tasks import corpus

FIRST_SPECIAL = 199998
RESERVED = {PHI4MM: 66, PHI3V: 64}  # ids behind those of text
SPACE = "\u2581"
NONE = 1 << 30  # rank of a pair that is never merged


def byte_alphabet():
    """GPT-2's printable stand-in for every byte."""
    keep = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table, extra = {}, 0
    for b in range(256):
        if b in keep:
            table[b] = chr(b)
        else:
            table[b] = chr(256 + extra)
            extra += 1
    return table


def read_ranks(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in file if line.strip())}


def parts_of(pieces, rank):
    """The two tokens that byte-pair merging joins last to make the token of these pieces; rank(a, b) of a pair, or None."""
    pieces = list(pieces)
    while len(pieces) > 2:
        best = min(range(len(pieces) - 1), key=lambda i: NONE if (r := rank(pieces[i], pieces[i + 1])) is None else r)
        pieces[best:best + 2] = [pieces[best] + pieces[best + 1]]
    return pieces


def digits_in(token):
    return sum(48 <= b <= 57 for b in token)


def cut(ranks, template_json, texts):
    """(tokens in rank order, merges as pairs of tokens)."""
    from tokenizers import Tokenizer
    full = Tokenizer.from_str(template_json)
    keep = {bytes([b]) for b in range(256)}
    by_rank = {rank: token for token, rank in ranks.items()}
    wanted = set()
    for encoding in full.encode_batch(sorted(set(texts)), add_special_tokens=False):
        wanted.update(encoding.ids)
    stack = [by_rank[i] for i in wanted if i in by_rank]
    parts = lambda token: parts_of((bytes([b]) for b in token), lambda a, b: ranks.get(a + b))
    while stack:
        token = stack.pop()
        if token in keep or digits_in(token) > 1:
            continue
        keep.add(token)
        stack += [p for p in parts(token) if len(p) > 1]
    tokens = sorted(keep, key=ranks.get)
    merges = [parts(t) for t in tokens if len(t) > 1]
    return tokens, merges


def read_text(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", encoding="utf-8") as file:
        return file.read()


PIECES = re.compile(f"{SPACE}?[A-Za-z]+|{SPACE}?[^A-Za-z0-9{SPACE}]+|{SPACE}|.")


def learn_merges(texts, count):
    """The `count` merges of byte-pair encoding that shorten `texts` most, one after the other (Sennrich et al., 2016). Words and runs
    of punctuation are merged, with the space in front of them; digits never are."""
    words = {}
    for text in texts:
        for piece in PIECES.findall(SPACE + text.replace(" ", SPACE)):
            if piece.isascii() or piece.startswith(SPACE):
                words[piece] = words.get(piece, 0) + 1
    split = {word: list(word) for word in words}
    merges = []
    for _ in range(count):
        pairs = {}
        for word, parts in split.items():
            for pair in zip(parts, parts[1:]):
                pairs[pair] = pairs.get(pair, 0) + words[word]
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        merges.append(best)
        for parts in split.values():
            i = 0
            while i + 1 < len(parts):
                if (parts[i], parts[i + 1]) == best:
                    parts[i:i + 2] = ["".join(best)]
                i += 1
    return merges


def build_phi3v(template, out, count=600):
    """Writes tokenizer.json and tokenizer_config.json to `out`: a SentencePiece-style vocabulary learned on the tasks' texts.

    It holds <unk>, <s>, </s>, the bytes, printable ASCII, and `count` merged tokens; the other special tokens follow in the released
    order. `template`: a folder with any tokenizer of the family's form, such as `omniphi synth --preset tiny-phi3v` writes.
    """
    with open(os.path.join(template, "tokenizer.json"), encoding="utf-8") as file:
        data = json.load(file)
    with open(os.path.join(template, "tokenizer_config.json"), encoding="utf-8") as file:
        config = json.load(file)
    first = next(t["id"] for t in data["added_tokens"] if t["content"] == "<|endoftext|>")
    merges = learn_merges([text for text in corpus(hears=False) if "\n" not in text], count)
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{byte:02X}>" for byte in range(256)] + [SPACE] + [chr(c) for c in range(33, 127)]
    for merge in merges:
        if "".join(merge) not in tokens:
            tokens.append("".join(merge))
    data["model"]["vocab"] = {token: i for i, token in enumerate(tokens)}
    data["model"]["merges"] = [" ".join(merge) for merge in merges]
    shift = len(tokens) - first
    for t in data["added_tokens"]:
        t["id"] += shift if t["id"] >= first else 0
    config["added_tokens_decoder"] = {str(int(i) + (shift if int(i) >= first else 0)): t for i, t in config["added_tokens_decoder"].items()}
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, separators=(",", ":"))
    with open(os.path.join(out, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file, indent=1)
    return len(tokens)


def build(ranks_path, release_tokenizer, template, out):
    """Writes tokenizer.json and its companions to `out`; `template` is a tokenizer.json in the released form."""
    ranks = read_ranks(ranks_path)
    released = read_text(release_tokenizer)
    tokens, merges = cut(ranks, released, corpus())
    letters = byte_alphabet()
    text = lambda token: "".join(letters[b] for b in token)
    with open(os.path.join(template, "tokenizer.json"), encoding="utf-8") as file:
        data = json.load(file)
    old = min(t["id"] for t in data["added_tokens"])
    released_first = min(t["id"] for t in json.loads(released)["added_tokens"])
    shift = len(tokens) + (released_first - FIRST_SPECIAL) - old
    data["model"]["vocab"] = {text(t): i for i, t in enumerate(tokens)}
    data["model"]["merges"] = [[text(a), text(b)] for a, b in merges] if isinstance(data["model"]["merges"][0], list) else [
        f"{text(a)} {text(b)}" for a, b in merges]
    for t in data["added_tokens"]:
        t["id"] += shift
    os.makedirs(out, exist_ok=True)
    with open(os.path.join(out, "tokenizer.json"), "w", encoding="utf-8") as file:
        json.dump(data, file, ensure_ascii=False, separators=(",", ":"))
    with open(os.path.join(out, "vocab.json"), "w", encoding="utf-8") as file:
        json.dump(data["model"]["vocab"], file, ensure_ascii=False, separators=(",", ":"))
    with open(os.path.join(out, "merges.txt"), "w", encoding="utf-8") as file:
        file.write("#version: 0.2\n" + "".join(f"{text(a)} {text(b)}\n" for a, b in merges))
    with open(os.path.join(out, "added_tokens.json"), "w", encoding="utf-8") as file:
        json.dump({t["content"]: t["id"] for t in data["added_tokens"]}, file, indent=1)
    with open(os.path.join(template, "tokenizer_config.json"), encoding="utf-8") as file:
        config = json.load(file)
    config["added_tokens_decoder"] = {str(int(i) + shift): t for i, t in config["added_tokens_decoder"].items()}
    with open(os.path.join(out, "tokenizer_config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file, indent=1)
    with open(os.path.join(template, "special_tokens_map.json"), encoding="utf-8") as file:
        special = file.read()
    with open(os.path.join(out, "special_tokens_map.json"), "w", encoding="utf-8") as file:
        file.write(special)
    return len(tokens)


class NanoTokenizer:
    """Texts to ids, and the prompt around them. Phi-4-multimodal: <|user|> media question <|end|> <|assistant|> answer <|end|>."""
    family = PHI4MM

    def __init__(self, folder):
        from tokenizers import Tokenizer
        with open(os.path.join(folder, "tokenizer.json"), encoding="utf-8") as file:
            text = file.read()
        self.inner = Tokenizer.from_str(text)
        # The file's ids: this library gives its own to special tokens where the file leaves gaps.
        self.special = {token["content"]: token["id"] for token in json.loads(text)["added_tokens"]}
        self.vocab_size = self.special["<|endoftext|>"] - (1 if self.family is PHI4MM else 0) + RESERVED[self.family]
        self.cache = {}

    def __call__(self, text):
        ids = self.cache.get(text)
        if ids is None:
            if len(self.cache) > 200000:
                self.cache.clear()
            ids = self.cache[text] = self.inner.encode(text, add_special_tokens=False).ids
        return ids

    def decode(self, ids):
        return self.inner.decode(ids, skip_special_tokens=False)

    def prefix(self, system, media):
        """Before the media of the first question, or before that question. system: a text or None."""
        special = self.special
        return ([special["<|system|>"]] + self(system) + [special["<|end|>"]] if system else []) + [special["<|user|>"]]

    def between(self):
        """Between two media of a question."""
        return []

    def question(self, text, media):
        """From the question on until the answer. media: right behind them."""
        return (self(text) if text else []) + [self.special["<|end|>"], self.special["<|assistant|>"]]

    def reply(self, text):
        return self(text) + [self.special["<|end|>"]]

    def again(self):
        """Between a reply and the next question."""
        return [self.special["<|user|>"]]


class Phi3vTokenizer(NanoTokenizer):
    """<s><|user|> newline, pictures, <s> newline question <|end|> newline <|assistant|> answer <|end|>; each text has a space in front."""
    family = PHI3V

    def prefix(self, system, media):
        special = self.special
        before = [special["<|system|>"]] + self("\n" + system) + [special["<|end|>"]] + self("\n") if system else []
        return [special["<s>"]] + before + [special["<|user|>"]] + (self("\n") if media else [])

    def between(self):
        return [self.special["<s>"]] + self("\n")

    def question(self, text, media):
        special = self.special
        return ([special["<s>"]] if media else []) + self("\n" + text) + [special["<|end|>"]] + self("\n") + [special["<|assistant|>"]]

    def again(self):
        return self("\n") + [self.special["<|user|>"]]


def load_tokenizer(family, folder):
    return {PHI4MM: NanoTokenizer, PHI3V: Phi3vTokenizer}[family](folder)

"""The nano tokenizer: the o200k ranks that its world needs, everything else spelled in smaller pieces.

A byte-level BPE cut from the o200k ranks. Kept are the 256 bytes, every token that o200k itself uses on the tasks' texts, and
the tokens that those are merged from; tokens of two or three digits are left out, so that numbers are read digit by digit.
Special tokens follow in the released order: id = rank of the first + (released id - 199998).
"""
import base64
import gzip
import json
import os

from .tasks import corpus

FIRST_SPECIAL = 199998
RESERVED = 66


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


def parts_of(token, ranks):
    """The two tokens that byte-pair merging joins last to make `token`."""
    pieces = [bytes([b]) for b in token]
    while len(pieces) > 2:
        best = min(range(len(pieces) - 1), key=lambda i: ranks.get(pieces[i] + pieces[i + 1], 1 << 30))
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
    while stack:
        token = stack.pop()
        if token in keep or digits_in(token) > 1:
            continue
        keep.add(token)
        stack += [p for p in parts_of(token, ranks) if len(p) > 1]
    tokens = sorted(keep, key=ranks.get)
    merges = [parts_of(t, ranks) for t in tokens if len(t) > 1]
    return tokens, merges


def build(ranks_path, release_tokenizer, template, out):
    """Writes tokenizer.json and its companions to `out`; `template` is a tokenizer.json in the released form."""
    ranks = read_ranks(ranks_path)
    opener = gzip.open if release_tokenizer.endswith(".gz") else open
    with opener(release_tokenizer, "rt", encoding="utf-8") as file:
        released = file.read()
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
    def __init__(self, folder):
        from tokenizers import Tokenizer
        self.inner = Tokenizer.from_file(os.path.join(folder, "tokenizer.json"))
        with open(os.path.join(folder, "added_tokens.json"), encoding="utf-8") as file:
            self.special = json.load(file)
        self.first_special = min(self.special.values()) - 1
        self.vocab_size = self.first_special + RESERVED
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

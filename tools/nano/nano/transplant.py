"""Begins a model of Phi-3.5-vision's family with what a trained one of Phi-4-multimodal's knows.

The decoder becomes the same function of the same embeddings but for the slightest turn of what wasn't turned before; the projector
too. The tower differs in its layer norm before the blocks, its GELU and its class token, and has to be trained again for a while.
"""
import torch

from . import phi3v
from .export import read
from .family import PHI3V, PHI4MM, family_of
from .model import Nano, Sizes
from .tokenizer import SPACE, load_tokenizer


def merged(linear, adapter):
    """The weights with a LoRA pair added."""
    return linear.base + linear.scale * linear.b[adapter] @ linear.a[adapter]


def spelling(token):
    """The text of a token of a SentencePiece vocabulary; None of a byte that is no ASCII, and of special tokens."""
    if token.startswith("<0x") and len(token) == 6:
        byte = int(token[3:5], 16)
        return chr(byte) if byte < 128 else None
    return None if token in ("<unk>", "<s>", "</s>") else token.replace(SPACE, " ")


def embeddings(old_tokenizer, tokenizer, table, spellings, ids=None):
    """[vocab, H]: each token's row is that of the same text, or the mean of those that spell it; or of several, spellings(text)."""
    out = torch.randn(tokenizer.vocab_size, table.shape[1]) * table.std() * .5
    for name, i in tokenizer.special.items():
        if name in old_tokenizer.special:
            out[i] = table[old_tokenizer.special[name]]
    vocabulary = {i: token for token, i in tokenizer.inner.get_vocab(with_added_tokens=False).items()}
    for i, token in vocabulary.items():
        text = spelling(token)
        if text is not None:
            out[i] = torch.stack([table[(ids or old_tokenizer)(form)].mean(0) for form in spellings(text)]).mean(0)
    return out


def rows_of_heads(s, d):
    """Order of a head's d rows: pairs (i, i + d/2) in place of (i, i + r/2), what isn't turned behind them."""
    pairs = int(d * s.rotary_fraction) // 2
    rest = (d - 2 * pairs) // 2
    return (list(range(pairs)) + list(range(2 * pairs, 2 * pairs + rest)) + list(range(pairs, 2 * pairs)) +
            list(range(2 * pairs + rest, d)))


def decoder(old, new):
    s, d = old.s, old.s.hidden // old.s.heads
    order = rows_of_heads(s, d)
    for a, b in zip(old.layers, new.layers, strict=True):
        q, k, v = merged(a.qkv, "vision").view(-1, d, s.hidden).split([s.heads, s.kv_heads, s.kv_heads])
        wide = lambda x: x.repeat_interleave(s.heads // s.kv_heads, 0)
        b.qkv.base.data = torch.cat([q[:, order], wide(k[:, order]), wide(v)]).reshape(-1, s.hidden).clone()
        for name in ("o", "gate_up", "down"):
            getattr(b, name).base.data = merged(getattr(a, name), "vision").clone()
        b.n1.weight.data, b.n2.weight.data = a.n1.weight.data.clone(), a.n2.weight.data.clone()
    new.norm.weight.data = old.norm.weight.data.clone()


STEADY = 24.0


def tower(old, new, old_patches, new_patches):
    """The old tower in the new one. What is new does next to nothing: two channels with large constants, of opposite signs, make the
    layer norm before the blocks divide all patches by nearly the same, and its weights and biases undo that."""
    # scale and shift normalise bytes: W (byte * a + b) = W a/c (byte * c + d) + W (b - a d / c)
    ratio = old.scale / new.scale
    new.patch.weight.data = old.patch.weight * ratio
    table = old.position.view(old_patches, old_patches, -1)
    at = (old_patches - new_patches) // 2
    inner = table[at:at + new_patches, at:at + new_patches].reshape(new_patches ** 2, -1)
    new.position.data = inner + old.patch.bias + old.patch.weight @ (old.shift - ratio * new.shift)
    D = inner.shape[1]
    steady = torch.zeros(D)
    # The channels whose filters see least, to which small errors of the constants do least harm.
    quiet = old.patch.weight.pow(2).sum(1)
    quiet[-16:] = float("inf")  # position codes
    up, down = quiet.topk(2, largest=False).indices.tolist()
    steady[up], steady[down] = STEADY, -STEADY
    new.position.data += steady
    new.class_token.data = steady + new.position.data.mean(0) - steady
    new.pre_norm.weight.data.fill_(STEADY * (2 / D) ** .5)
    new.pre_norm.bias.data = -steady
    for a, b in zip(old.blocks, new.blocks, strict=True):
        b.load_state_dict(a.state_dict())


def eyes(old, new):
    four = lambda x: x.repeat(*([1] * (x.ndim - 1)), 4)
    new.sub_GN.data, new.glb_GN.data = four(old.sub_GN.data), four(old.glb_GN.data)
    new.project.load_state_dict(old.project.state_dict() | {"0.weight": four(old.project[0].weight.data) / 4})


def carry_over(model, tokenizer, folder):
    """From a checkpoint of the same family with another vocabulary."""
    old_tokenizer = load_tokenizer(PHI3V, folder)
    old = Nano(phi3v.sizes(old_tokenizer.vocab_size))
    read(old, folder)
    pieces = lambda text: [token.id for token in old_tokenizer.inner.model.tokenize(text.replace(" ", SPACE))]
    state = old.state_dict()
    for name in ("embed", "head"):
        state["decoder." + name] = embeddings(old_tokenizer, tokenizer, getattr(old.decoder, name), lambda text: [text], pieces)
    model.load_state_dict({**model.state_dict(), **{k: v for k, v in state.items() if not k.startswith("patch_labels")}})
    return old


@torch.no_grad()
def transplant(model, tokenizer, folder):
    """folder: a checkpoint of either family."""
    if family_of(folder) is PHI3V:
        return carry_over(model, tokenizer, folder)
    old_tokenizer = load_tokenizer(PHI4MM, folder)
    old = Nano(Sizes(vocab=old_tokenizer.vocab_size))
    read(old, folder)
    decoder(old.decoder, model.decoder)
    model.decoder.embed.data = embeddings(old_tokenizer, tokenizer, old.decoder.embed, lambda text: [text])
    # Answers begin with a space here, and without one there.
    model.decoder.head.data = embeddings(old_tokenizer, tokenizer, old.decoder.embed, lambda text: [text, text.lstrip(" ") or text])
    tower(old.vision, model.vision, old.s.family.patches, model.s.family.patches)
    eyes(old.eyes, model.eyes)
    return old

"""The nano models in torch: the forward passes of both families with smaller sizes, for training.

Every module has the checkpoint's own tensors (`phi4mm.py` and `phi3v.py` name them). Left out are the parts that the released code
never runs: the last block of the tower, its post layer norm and SigLIP's pooling head. Shapes: B batch, N patches, T tokens or frames.
"""
import math
from dataclasses import dataclass, field

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

from .family import PHI3V, PHI4MM, Family
from .vocabulary import COLORS, SHAPES, WORDS

CLASSES = 1 + 10 + len(WORDS) + len(SHAPES)  # of a patch: background, digits, words, shapes


@dataclass
class Sizes:
    """Those of Phi-4-multimodal; `phi3v.sizes` has the others."""
    family: Family = PHI4MM
    vocab: int = 1009
    hidden: int = 128
    layers: int = 4
    heads: int = 4
    kv_heads: int = 2
    intermediate: int = 320
    tied: bool = True  # the embeddings are the output matrix
    ranks: dict = field(default_factory=lambda: {"vision": 48, "speech": 32})  # of the LoRA pairs
    lora_scale: float = 2.0
    original_context: int = 4096
    context: int = 16384
    short_factors: tuple = ()  # of LongRoPE; none: all are 1
    vision_hidden: int = 160
    vision_layers: int = 4  # that run; the checkpoint has one more
    vision_heads: int = 8
    vision_intermediate: int = 320
    vision_eps: float = 1e-6
    audio_dim: int = 96
    audio_heads: int = 4
    audio_units: int = 192
    audio_blocks: int = 4
    audio_channels: int = 32
    bias_reach: int = 500
    rope_theta: float = 10000.0
    rotary_fraction: float = 0.75

    @property
    def clip(self):
        """The tower is CLIP: a class token, a layer norm before the blocks, quick GELU, no bias of patches. Else SigLIP."""
        return self.family is PHI3V

    @property
    def merged(self):
        """Width of a cell before the projector: four patches beside each other, or their mean."""
        return self.vision_hidden * (4 if self.family is PHI3V else 1)


# ---------------------------------------------------------------------------------------------------------------- decoder
def attend(q, k, v, bias):
    """softmax(q k / sqrt(d) + bias) v for [B, heads, N, d]. Written out: for these sizes it is faster on the CPU than the fused form."""
    scores = (q * q.shape[-1] ** -.5) @ k.transpose(-1, -2)
    return (scores if bias is None else scores + bias.to(scores.dtype)).softmax(-1).to(v.dtype) @ v


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return F.rms_norm(x, (x.shape[-1],), self.weight, 1e-5)


class LoraLinear(nn.Module):
    """y = W x + scale * B (A x) with the pair of the adapter in use, or with none."""

    def __init__(self, inputs, outputs, sizes, std):
        super().__init__()
        self.base = nn.Parameter(torch.randn(outputs, inputs) * std)
        self.a = nn.ParameterDict({k: nn.Parameter(torch.randn(r, inputs) * inputs ** -.5) for k, r in sizes.ranks.items()})
        self.b = nn.ParameterDict({k: nn.Parameter(torch.zeros(outputs, r)) for k, r in sizes.ranks.items()})
        self.scale = sizes.lora_scale

    def forward(self, x, adapter):
        y = F.linear(x, self.base)
        if adapter:
            y = y + self.scale * F.linear(F.linear(x, self.a[adapter]), self.b[adapter])
        return y


class DecoderLayer(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s, self.d = s, s.hidden // s.heads
        self.n1, self.n2 = RmsNorm(s.hidden), RmsNorm(s.hidden)
        out = (2 * s.layers) ** -.5
        self.qkv = LoraLinear(s.hidden, (s.heads + 2 * s.kv_heads) * self.d, s, s.hidden ** -.5)
        self.o = LoraLinear(s.hidden, s.hidden, s, s.hidden ** -.5 * out)
        self.gate_up = LoraLinear(s.hidden, 2 * s.intermediate, s, s.hidden ** -.5)
        self.down = LoraLinear(s.intermediate, s.hidden, s, s.intermediate ** -.5 * out)

    def forward(self, x, rope, bias, adapter):
        s, d, (B, T, _) = self.s, self.d, x.shape
        q, k, v = self.qkv(self.n1(x), adapter).split([s.heads * d, s.kv_heads * d, s.kv_heads * d], -1)
        q = rotate(q.view(B, T, s.heads, d).transpose(1, 2), rope)
        k = rotate(k.view(B, T, s.kv_heads, d).transpose(1, 2), rope).repeat_interleave(s.heads // s.kv_heads, 1)
        v = v.view(B, T, s.kv_heads, d).transpose(1, 2).repeat_interleave(s.heads // s.kv_heads, 1)
        a = attend(q, k, v, bias)
        x = x + self.o(a.transpose(1, 2).reshape(B, T, -1), adapter)
        gate, up = self.gate_up(self.n2(x), adapter).chunk(2, -1)
        return x + self.down(up * F.silu(gate), adapter)


def rotate(x, rope):
    cos, sin = rope
    r = cos.shape[-1]
    a, b, rest = x[..., :r], x[..., r:2 * r], x[..., 2 * r:]
    return torch.cat([a * cos - b * sin, b * cos + a * sin, rest], -1)


class Decoder(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.embed = nn.Parameter(torch.randn(s.vocab, s.hidden) * s.hidden ** -.5)
        if not s.tied:
            self.head = nn.Parameter(self.embed.detach().clone())
        self.layers = nn.ModuleList(DecoderLayer(s) for _ in range(s.layers))
        self.norm = RmsNorm(s.hidden)
        r = int(s.hidden // s.heads * s.rotary_fraction)
        frequency = s.rope_theta ** (-torch.arange(0, r, 2).double() / r) / torch.tensor(s.short_factors or [1.0] * (r // 2)).double()
        angle = torch.arange(4096)[:, None] * frequency[None]
        # LongRoPE's attention factor applies with the short factors, too.
        factor = math.sqrt(1 + math.log(s.context / s.original_context) / math.log(s.original_context))
        self.register_buffer("cos", (angle.cos() * factor).float(), persistent=False)
        self.register_buffer("sin", (angle.sin() * factor).float(), persistent=False)

    def forward(self, embeddings, positions, log_weight, adapter, take):
        """embeddings [B, T, H] at positions [B, T], in any order; logits at the flat positions `take` of [B * T].

        A key is seen from its position on. `log_weight` [B, T] stands for keys left out: n alike keys, of which m are there, count
        log(n / m) more each (see `pictures.Views`)."""
        x, dtype = embeddings, torch.bfloat16 if torch.is_autocast_enabled("cpu") else torch.float32
        rope = self.cos[positions][:, None].to(dtype), self.sin[positions][:, None].to(dtype)
        bias = torch.where(positions[:, None, :] <= positions[:, :, None], log_weight[:, None, :], -1e4)[:, None].to(dtype)
        for layer in self.layers:
            x = layer(x, rope, bias, adapter)
        x = self.norm(x.flatten(0, 1)[take])
        return F.linear(x, self.embed if self.s.tied else self.head)


def mlp(inputs, outputs):
    """A projector: linear, GELU (erf), linear."""
    return nn.Sequential(nn.Linear(inputs, outputs), nn.GELU(), nn.Linear(outputs, outputs))


# ----------------------------------------------------------------------------------------------------------------- vision
class VisionBlock(nn.Module):
    def __init__(self, s):
        super().__init__()
        D, self.heads, self.clip = s.vision_hidden, s.vision_heads, s.clip
        self.n1, self.n2 = nn.LayerNorm(D, eps=s.vision_eps), nn.LayerNorm(D, eps=s.vision_eps)
        self.qkv, self.o = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.f1, self.f2 = nn.Linear(D, s.vision_intermediate), nn.Linear(s.vision_intermediate, D)

    def forward(self, x, mask=None):
        B, N, D = x.shape
        q, k, v = self.qkv(self.n1(x)).view(B, N, 3, self.heads, D // self.heads).permute(2, 0, 3, 1, 4)
        x = x + self.o(attend(q, k, v, mask).transpose(1, 2).reshape(B, N, D))
        h = self.f1(self.n2(x))
        return x + self.f2(h * torch.sigmoid(1.702 * h) if self.clip else F.gelu(h, approximate="tanh"))


def dct_filters(D):
    """A start for the 14x14x3 patch filters: low frequencies, two thirds in brightness, the rest on two axes of colour."""
    i = np.arange(14)
    basis = np.array([np.cos(np.pi * (i + .5) * k / 14) * (1 if k else .7071) for k in range(14)])
    pairs = sorted([(u, v) for u in range(12) for v in range(12)], key=lambda p: p[0] + p[1] + 0.01 * abs(p[0] - p[1]))
    bright = D * 2 // 3
    tint = (D - bright) // 2
    axes = [(np.array([1, 1, 1]) / 3 ** .5, bright), (np.array([1, 0, -1]) / 2 ** .5, tint),
            (np.array([.5, -1, .5]) / 1.5 ** .5, D - bright - tint)]
    rows = []
    for axis, n in axes:
        for u, v in pairs[:n]:
            gain = .12 if u + v == 0 else .8 * (1 + .3 * (u + v)) ** .5
            rows.append((axis[:, None, None] * np.outer(basis[u], basis[v])[None]).ravel() / 7 * gain)
    return torch.tensor(np.array(rows), dtype=torch.float32)


CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
FREQUENCIES = (1.5, .9, .5, .2)
NEIGHBOURS = [(-1, -1), (0, -1), (1, -1), (-1, 0), (1, 0), (-1, 1), (0, 1), (1, 1)]


def position_code(n):
    """16 numbers for each of n x n patches: sine and cosine of column and row at four frequencies."""
    y, x = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    x, y, f = x.reshape(-1, 1), y.reshape(-1, 1), np.array(FREQUENCIES)[None]
    return torch.tensor(np.concatenate([np.sin(x * f), np.cos(x * f), np.sin(y * f), np.cos(y * f)], 1), dtype=torch.float32)


def shift_matrix(dx, dy):
    """R with R code(x, y) = code(x + dx, y + dy)."""
    R = np.zeros((16, 16))
    for i, f in enumerate(FREQUENCIES):
        for o, d in ((0, dx), (8, dy)):
            c, s = math.cos(f * d), math.sin(f * d)
            R[o + i, o + i], R[o + i, o + 4 + i], R[o + 4 + i, o + i], R[o + 4 + i, o + 4 + i] = c, s, -s, c
    return torch.tensor(R, dtype=torch.float32)


class VisionTower(nn.Module):
    """SigLIP or CLIP without its last block. It starts as a dilated convolution: the last 16 channels hold a position code, and the heads
    of the first blocks begin by looking at the neighbours at distance 1, 2 and 4."""

    def __init__(self, s, gain=.7):
        super().__init__()
        D, h, L = s.vision_hidden, s.vision_heads, s.vision_layers
        d = D // h
        self.patch = nn.Linear(588, D, bias=not s.clip)
        self.position = nn.Parameter(torch.randn(s.family.patches ** 2, D) * .02)
        self.blocks = nn.ModuleList(VisionBlock(s) for _ in range(L))
        self.patch.weight.data.zero_()
        self.patch.weight.data[:D - 16] = dct_filters(D - 16)
        self.position.data[:, D - 16:] = position_code(s.family.patches)
        self.clip = s.clip
        if s.clip:
            # The first row of the checkpoint's positions is added to the class token: training knows their sum.
            self.class_token, self.pre_norm = nn.Parameter(torch.randn(D) * .1), nn.LayerNorm(D, eps=s.vision_eps)
            self.pre_norm.weight.data *= .5
        else:
            self.patch.bias.data.zero_()
        mean, std = (CLIP_MEAN, CLIP_STD) if s.clip else ((.5,) * 3, (.5,) * 3)
        each = lambda values: torch.tensor(values).repeat_interleave(196)
        self.register_buffer("scale", 1 / (255 * each(std)), persistent=False)
        self.register_buffer("shift", -each(mean) / each(std), persistent=False)
        for i, block in enumerate(self.blocks):
            for layer in (block.qkv, block.o, block.f1, block.f2):
                nn.init.normal_(layer.weight, std=0.7 / layer.in_features ** .5)
                nn.init.zeros_(layer.bias)
            block.o.weight.data /= (2 * L) ** .5 / 1.5
            block.f2.weight.data /= (2 * L) ** .5
            w = block.qkv.weight.data
            distance = (1, 2, 4)[i] if i < min(3, L - 1) else 0
            for j in range(h):
                dx, dy = NEIGHBOURS[j % 8]
                g = (gain if distance else gain * .3) * d ** .5
                q, k = w[j * d:(j + 1) * d], w[D + j * d:D + (j + 1) * d]
                q *= .3
                k *= .3
                n = min(16, d)
                q[:n, D - 16:] = (shift_matrix(dx * distance, dy * distance) * g ** .5)[:n]
                k[:n, D - 16:] = (torch.eye(16) * g ** .5)[:n]

    def forward(self, patches, positions, mask=None):
        """patches [B, N, 588] channel-first pixels, as scale and shift normalise them; positions [B, N]; mask [B, 1, 1, N] is added for
        keys; -> [B, N, D]."""
        x = self.patch(patches) + self.position[positions]
        if self.clip:
            x = self.pre_norm(torch.cat([self.class_token.expand(len(x), 1, -1), x], 1))
            mask = None if mask is None else F.pad(mask, (1, 0))
        for block in self.blocks:
            x = block(x, mask)
        return x[:, 1:] if self.clip else x


class PatchLabels(nn.Module):
    """Training only: what every patch shows. Outputs: class, letter, order in the text, color, how many in all."""
    SPLIT = [CLASSES, 27, 6, 1 + len(COLORS), 4]
    WEIGHTS = [1, .7, .5, .3, .3]

    def __init__(self, s):
        super().__init__()
        self.norm, self.out = nn.LayerNorm(s.vision_hidden), nn.Linear(s.vision_hidden, sum(self.SPLIT))

    def forward(self, features, labels):
        """labels [B, 5, N] uint8, 0 background, 255 unknown; (loss, [logits])."""
        logits = self.out(self.norm(features)).float().split(self.SPLIT, -1)
        labels = labels.long()
        loss = 0
        for i, (logit, weight) in enumerate(zip(logits, self.WEIGHTS)):
            t = labels[:, i].flatten()
            e = F.cross_entropy(logit.flatten(0, 1), t, reduction="none", ignore_index=255)
            front, back = ((t > 0) & (t != 255)).float(), (t == 0).float()
            loss = loss + weight * ((e * front).sum() / front.sum().clamp(min=1) + .5 * (e * back).sum() / back.sum().clamp(min=1))
        return loss, logits


class Eyes(nn.Module):
    """Cells of 2x2 patches, separators, local crops then the global view, projector."""

    def __init__(self, s):
        super().__init__()
        self.width = s.merged
        self.project = mlp(s.merged, s.hidden)
        self.sub_GN = nn.Parameter(torch.randn(s.merged) * .5)
        self.glb_GN = nn.Parameter(torch.randn(s.merged) * .5)

    def forward(self, local, view, local_rows, view_rows):
        """Patch features [B, 4 * cells, D] of both parts, four of a cell beside each other, and their numbers of rows ->
        [B, cells + local_rows + 1 + cells + view_rows, H] in the order local cells, their separators, glb_GN, global cells, separators."""
        B, _, D = view.shape
        W = self.width
        merge = lambda x: x.reshape(B, -1, W).float() if W > D else x.reshape(B, -1, 4, D).float().mean(2)
        sub = lambda rows: self.sub_GN.expand(B, rows, W)
        parts = [merge(local), sub(local_rows), self.glb_GN.expand(B, 1, W), merge(view), sub(view_rows)]
        return self.project(torch.cat(parts, 1))


# ------------------------------------------------------------------------------------------------------------------ audio
class ConformerBlock(nn.Module):
    def __init__(self, A, heads, units, kernel=3):
        super().__init__()
        self.heads = heads
        feed = lambda: nn.ModuleList([nn.LayerNorm(A), nn.Linear(A, 2 * units), nn.Linear(units, A)])
        self.ff_in, self.ff_out = feed(), feed()
        self.norm_att, self.qkv, self.o = nn.LayerNorm(A), nn.Linear(A, 3 * A), nn.Linear(A, A)
        self.norm_conv, self.glu = nn.LayerNorm(A), nn.Linear(A, 2 * A)
        self.b1, self.b2 = nn.Parameter(torch.zeros(A)), nn.Parameter(torch.zeros(A))
        self.depthwise = nn.Conv1d(A, A, kernel, groups=A)
        self.pointwise, self.ext, self.norm = nn.Linear(A, A), nn.Linear(A, A), nn.LayerNorm(A)

    def feed(self, m, x):
        a, g = m[1](m[0](x)).chunk(2, -1)
        return m[2](a * F.silu(g))

    def forward(self, x, bias):
        B, T, A = x.shape
        x = x + .5 * self.feed(self.ff_in, x)
        q, k, v = self.qkv(self.norm_att(x)).view(B, T, 3, self.heads, A // self.heads).permute(2, 0, 3, 1, 4)
        a = attend(q, k, v, bias)
        x = x + self.o(a.transpose(1, 2).reshape(B, T, A))
        a, g = self.glu(self.norm_conv(x)).chunk(2, -1)
        y = (a + self.b1) * F.silu(g + self.b2)
        y = self.depthwise(F.pad(y.transpose(1, 2), (self.depthwise.kernel_size[0] - 1, 0))).transpose(1, 2)
        x = x + self.ext(F.silu(self.pointwise(y)))
        x = x + .5 * self.feed(self.ff_out, x)
        return self.norm(x)


class AudioTower(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        A, C = s.audio_dim, s.audio_channels
        self.register_buffer("mean", torch.full((80,), 11.0))
        self.register_buffer("invstd", torch.full((80,), .22))
        self.c0 = nn.Conv2d(1, C, 3, 2, 1)
        self.c2, self.c3 = nn.Conv2d(C, C, 3, 2, 1, groups=C), nn.Conv2d(C, C, 1)
        self.c5, self.c6 = nn.Conv2d(C, C, 3, 2, 1, groups=C), nn.Conv2d(C, C, 1)
        self.out = nn.Linear(C * 10, A)
        self.bias = nn.Parameter(torch.zeros(2 * s.bias_reach, s.audio_heads))
        self.blocks = nn.ModuleList(ConformerBlock(A, s.audio_heads, s.audio_units) for _ in range(s.audio_blocks))

    def forward(self, mel):
        """mel [B, T, 80], unpadded -> [B, ceil(T / 8), A]."""
        with torch.autocast("cpu", enabled=False):  # depthwise convolutions are faster in float32
            x = ((mel - self.mean) * self.invstd)[:, None]
            x = F.relu(self.c0(x))
            x = F.relu(self.c3(self.c2(x)))
            x = F.relu(self.c6(self.c5(x)))
        B, C, T, Q = x.shape
        x = self.out(x.permute(0, 2, 1, 3).reshape(B, T, C * Q))
        i = torch.arange(T)
        reach = self.s.bias_reach
        bias = self.bias[(i[None] - i[:, None]).clamp(-reach, reach - 1) + reach].permute(2, 0, 1)[None]
        for block in self.blocks:
            x = block(x, bias)
        return x


class FrameLabels(nn.Module):
    """Training only: CTC over digits and words, and what each 80 ms token is part of. 0 is blank or silence."""

    def __init__(self, s):
        super().__init__()
        self.ctc, self.frame = nn.Linear(s.audio_dim, 11 + len(WORDS)), nn.Linear(s.audio_dim, 11 + len(WORDS))


class Mel:
    """The audio front end: log-mel of 16 kHz samples, as docs/numerics.md describes it."""

    def __init__(self):
        mel = lambda f: 1127 * np.log(1 + f / 700)
        points = np.linspace(0, mel(7690), 82)
        bins = mel(np.arange(257) * 16000 / 512)
        W = np.zeros((257, 80))
        for j in range(80):
            W[1:246, j] = np.maximum(0, 1 - np.abs(points[j + 1] - bins[1:246]) / points[1])
        self.W = torch.tensor(W, dtype=torch.float32)
        self.window = torch.tensor(.54 - .46 * np.cos(2 * np.pi * np.arange(400) / 399), dtype=torch.float32)

    def __call__(self, x):
        f = x.unfold(-1, 400, 160)
        before = torch.cat([f[..., :1], f[..., :-1]], -1)
        return (torch.fft.rfft((f - .97 * before) * 32768 * self.window, 512).abs().pow(2) @ self.W).clamp(min=1).log()


class Nano(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.s = s
        self.decoder = Decoder(s)
        self.vision, self.eyes, self.patch_labels = VisionTower(s), Eyes(s), PatchLabels(s)
        if not s.family.hears:
            return
        self.audio, self.frame_labels = AudioTower(s), FrameLabels(s)
        self.ears = nn.ModuleDict({"speech": mlp(s.audio_dim, s.hidden), "vision": mlp(s.audio_dim, s.hidden)})

"""Draws the pictures: a number, a word or up to three shapes on many backgrounds, with a label for every 14x14 patch."""
import glob
import io
import math
import os
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from .tasks import number_text
from .vocabulary import COLORS, SHAPES, WORDS

# Fonts by the beginning of their file's name. Packages: see README.md.
HELD_FONTS = ("Roboto-", "Cantarell", "URWBookman", "DejaVuSerif", "NotoSerif-", "LiberationSansNarrow", "OpenSans-Semi")
FAMILIES = ("dejavu", "liberation", "freefont", "urw-base35", "lato", "open-sans", "roboto", "comfortaa", "cantarell", "NotoSans-",
            "NotoSerif-", "NotoSansDisplay-", "NotoSerifDisplay-")
STYLES_LEFT_OUT = ("Hairline", "Thin", "ExtraLight", "D050000L", "Symbol", "Math", "ExtraCondensed", "Oblique-Bold")


def find_fonts(root="/usr/share/fonts"):
    """{'seen': [...], 'unseen': [...]}: fonts for training, and those that it never sees."""
    out = {"seen": [], "unseen": []}
    for path in sorted(glob.glob(os.path.join(root, "**", "*.[to]tf"), recursive=True)):
        name = os.path.basename(path)
        if not any(f in path for f in FAMILIES) or any(s in name for s in STYLES_LEFT_OUT):
            continue
        if "Noto" in name and not (any(name.startswith(f) for f in FAMILIES[-4:]) and
                                   any(f"-{s}." in name for s in ("Regular", "Bold", "Italic", "Medium", "BoldItalic"))):
            continue
        try:
            font = ImageFont.truetype(path, 40)
            if len({bytes(font.getmask(c)) for c in "0123456789abg"}) < 13:
                continue
        except OSError:
            continue
        out["unseen" if name.startswith(HELD_FONTS) else "seen"].append(path)
    return out


def luminance(rgb):
    return float(np.asarray(rgb, np.float32) @ np.array([.299, .587, .114], np.float32))


def make_textures(rng, side=704):
    """int16 [side, side, 3] patterns that are added to pictures: noise, blobs, gradients, stripes, checks."""
    out = []
    grid = np.arange(side, dtype=np.float32)
    for sigma in (2, 4, 7, 10, 13):
        out.append(rng.standard_normal((side, side, 3)) * sigma)
        out.append(np.repeat(rng.standard_normal((side, side, 1)) * sigma, 3, 2))
    for cells in (4, 8, 16, 32, 64):
        for gain in (12, 20):
            coarse = rng.uniform(-1, 1, (cells, cells, 3)) * gain
            layers = [Image.fromarray(coarse[..., c].astype(np.float32)).resize((side, side), Image.BICUBIC) for c in range(3)]
            out.append(np.stack([np.asarray(layer) for layer in layers], 2))
    for _ in range(8):
        angle, period, gain = rng.uniform(0, np.pi), rng.uniform(8, 90), rng.uniform(4, 13)
        wave = np.sin((grid[:, None] * math.sin(angle) + grid[None] * math.cos(angle)) * 2 * np.pi / period)
        out.append(((wave > 0) * 2 - 1 if rng.random() < .5 else wave)[..., None] * gain * rng.uniform(.4, 1, 3))
    for _ in range(4):
        period, gain = rng.integers(10, 60), rng.uniform(4, 11)
        check = ((np.arange(side)[:, None] // period + np.arange(side)[None] // period) % 2) * 2 - 1
        out.append(check[..., None] * gain * rng.uniform(.4, 1, 3))
    return [np.clip(t, -40, 40).astype(np.int16) for t in out]


class Painter:
    """Draws one picture after another. `heights` are a digit's in pixels of the picture at full size."""

    def __init__(self, fonts, seed, mix=(.5, .3, .2), heights=(24, 200), angle=15, word_heights=(20, 96), digits=3):
        self.random = random.Random(seed)
        self.rng = np.random.default_rng(seed)
        self.fonts, self.mix, self.heights, self.angle, self.word_heights, self.digits = fonts, mix, heights, angle, word_heights, digits
        self.textures = make_textures(np.random.default_rng(1))
        self.cache = {}

    def font(self, path, size):
        key = (path, size)
        if key not in self.cache:
            if len(self.cache) > 2500:
                self.cache.clear()
            self.cache[key] = ImageFont.truetype(path, size)
        return self.cache[key]

    def colors(self):
        """(color's index, ink, background), told apart by brightness alone as well."""
        r = self.random
        i = r.randrange(len(COLORS))
        ink = np.clip(np.array(list(COLORS.values())[i], np.float32) + self.rng.uniform(-20, 20, 3), 0, 255)
        while True:
            u = r.random()
            if u < .35:
                ground = np.full(3, r.uniform(225, 255))
            elif u < .5:
                ground = np.full(3, r.uniform(0, 40))
            elif u < .65:
                ground = np.full(3, r.uniform(60, 220))
            else:
                ground = self.rng.uniform(0, 255, 3)
            if abs(luminance(ground) - luminance(ink)) > 55:
                return i, ink, ground

    def text(self, text, W, H, heights, scale):
        """mask [H, W] and per character a test of points; retries until the text fits."""
        r = self.random
        for attempt in range(200):
            path = r.choice(self.fonts)
            low, high = heights
            high = max(low * 1.05, high * (.97 ** max(0, attempt - 5)))
            if r.random() < .5:
                h = math.exp(r.uniform(math.log(low), math.log(high)))
            else:
                h = r.uniform(low, high)
            font = self.font(path, max(6, int(round(h * scale / .72 / 2)) * 2))
            x0, y0, x1, y1 = font.getbbox(text)
            w, h = x1 - x0, y1 - y0
            angle = r.uniform(-self.angle, self.angle)
            t = math.radians(angle)
            c, s = math.cos(t), math.sin(t)
            if w * abs(c) + h * abs(s) < W - 6 and w * abs(s) + h * abs(c) < H - 6:
                break
        else:
            raise ValueError(f"{text} does not fit {W}x{H}")
        mask = Image.new("L", (w + 4, h + 4), 0)
        ImageDraw.Draw(mask).text((2 - x0, 2 - y0), text, fill=255, font=font)
        mask = mask.rotate(angle, Image.BILINEAR, expand=True)
        left, top = r.randint(0, max(0, W - mask.width)), r.randint(0, max(0, H - mask.height))
        canvas = Image.new("L", (W, H), 0)
        canvas.paste(mask, (left, top))
        cx, cy = left + mask.width / 2, top + mask.height / 2
        ends = [0] + [font.getlength(text[:i + 1]) for i in range(len(text))]
        boxes = [(max(a - x0, -2), min(b - x0, w + 2)) for a, b in zip(ends, ends[1:])]

        def inside(gx, gy):
            """One boolean array per character for points of the picture."""
            dx, dy = gx - cx, gy - cy
            u, v = dx * c - dy * s + w / 2, dx * s + dy * c + h / 2
            row = (v > -3) & (v < h + 3)
            return [row & (u >= a) & (u < b) for a, b in boxes]
        return np.asarray(canvas), inside

    def shapes(self, kind, n, W, H, scale):
        r = self.random
        S = min(W, H)
        low, high = max(6, 20 * scale), {1: .32, 2: .2, 3: .16}[n] * S
        high = max(high, low + 1)
        placed = []
        while len(placed) < n:
            R = r.uniform(low, high)
            x, y = r.uniform(R + 2, W - R - 2), r.uniform(R + 2, H - R - 2)
            if all(math.hypot(x - X, y - Y) > R + Q + 6 * scale for X, Y, Q in placed):
                placed.append((x, y, R))
            else:
                high = max(low + 1, high * .97)
                low = low if high > low + 1 else max(4, low * .98)
        placed.sort()
        k = 2
        canvas = Image.new("L", (W * k, H * k), 0)
        draw = ImageDraw.Draw(canvas)
        for x, y, R in placed:
            turn = r.uniform(-.26, .26)
            if kind == "circle":
                draw.ellipse([k * (x - R), k * (y - R), k * (x + R), k * (y + R)], fill=255)
                continue
            corners = {"square": 4, "triangle": 3, "star": 10}[kind]
            first = math.pi / 4 if kind == "square" else -math.pi / 2
            points = []
            for i in range(corners):
                Q = R * (.45 if kind == "star" and i % 2 else 1)
                a = turn + first + 2 * math.pi * i / corners
                points.append((k * (x + Q * math.cos(a)), k * (y + Q * math.sin(a))))
            draw.polygon(points, fill=255)

        def inside(gx, gy):
            return [(gx - x) ** 2 + (gy - y) ** 2 < (R * .85) ** 2 for x, y, R in placed]
        return np.asarray(canvas.reduce(k)), inside

    def sample(self, W, H, scale=1.0, facts=None, plain=False):
        """(uint8 [H, W, 3], labels of points, facts). `scale` is the size of this picture against the one that heights are meant for;
        `facts` asks for a kind (and text, or shape and count); `plain` leaves out blur, JPEG and gray."""
        r = self.random
        soft = 1.0 if plain or r.random() < .6 else r.uniform(1, 2)  # drawn smaller, then enlarged
        w, h, scale = round(W / soft), round(H / soft), scale / soft
        color, ink, ground = self.colors()
        facts = dict(facts or {})
        kind = facts.get("kind") or r.choices(("number", "word", "shape"), self.mix)[0]
        facts["kind"] = kind
        if kind == "number":
            text = facts.setdefault("text", number_text(r, self.digits))
            mask, inside = self.text(text, w, h, self.heights, scale)
            classes, letters = [1 + int(c) for c in text], [0] * len(text)
        elif kind == "word":
            word = facts.setdefault("text", r.choice(WORDS))
            u = r.random()
            text = word if u < .5 else word.title() if u < .75 else word.upper()
            mask, inside = self.text(text, w, h, self.word_heights, scale)
            classes, letters = [11 + WORDS.index(word)] * len(text), [ord(c) - 96 for c in word]
        else:
            facts.setdefault("shape", r.choice(SHAPES))
            n = facts.setdefault("count", r.randint(1, 3))
            mask, inside = self.shapes(facts["shape"], n, w, h, scale)
            classes, letters = [11 + len(WORDS) + SHAPES.index(facts["shape"])] * n, [0] * n
        facts["color"] = list(COLORS)[color]

        level = np.arange(256, dtype=np.float32)[:, None] / 255
        table = (ground * (1 - level) + ink * level).astype(np.uint8)
        image = table[mask]
        if r.random() < .75:
            total = image.astype(np.int16)
            for _ in range(1 if r.random() < .6 else 2):
                texture = r.choice(self.textures)
                side = texture.shape[0]
                oy, ox = r.randint(0, max(0, side - h)), r.randint(0, max(0, side - w))
                piece = texture[oy:oy + h, ox:ox + w]
                if piece.shape[:2] != (h, w):
                    piece = texture[np.arange(oy, oy + h) % side][:, np.arange(ox, ox + w) % side]
                if r.random() < .5:
                    piece = piece[::-1]
                total += piece
            image = np.clip(total, 0, 255).astype(np.uint8)
        if (w, h) != (W, H):
            image = np.asarray(Image.fromarray(image).resize((W, H), Image.BILINEAR))
        if not plain:
            if r.random() < .06:
                file = io.BytesIO()
                Image.fromarray(image).save(file, "JPEG", quality=r.randint(60, 95))
                image = np.asarray(Image.open(file))
            if r.random() < .07:
                image = np.repeat(np.asarray(Image.fromarray(image).convert("L"))[..., None], 3, 2)
                facts["color"] = None

        def labels(gx, gy):
            """uint8 [5, ...] at points of the picture: class, letter, order, color, how many."""
            out = np.zeros((5,) + gx.shape, np.uint8)
            boxes = inside(gx / soft, gy / soft)
            n = len(boxes)
            for i, (box, cls, letter) in enumerate(zip(boxes, classes, letters)):
                out[0][box], out[1][box], out[2][box] = cls, letter, i + 1
                out[3][box] = color + 1 if facts["color"] else 255
                out[4][box] = n if kind != "word" else 255
            if kind == "word":
                out[2][(out[2] > 0)] = 1 + np.minimum(out[2][out[2] > 0] - 1, 4)
            return out
        return image, labels, facts


def patch_centres(rows, cols):
    return np.meshgrid((np.arange(cols) + .5) * 14, (np.arange(rows) + .5) * 14)

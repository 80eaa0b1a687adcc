#!/usr/bin/env python3
"""Makes the tables that the image tests are held to. Developers only: needs Pillow 13 and NumPy.

  tests/media/data/resize.json         SHA-256 of Pillow's bilinear resize of a pseudo-random image, for odd sizes
  tests/models/data/crop_limits.json   the grid rule for every limit from 1 to 36
"""
import hashlib
import json
import pathlib
import random

import numpy as np
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent


def noise_image(width, height):
    """The generator that tests/media/image_resize_test.cc repeats: a 32-bit linear congruence, its highest byte."""
    count, state = width * height * 3, 12345
    out = np.empty(count, np.uint8)
    for i in range(count):
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        out[i] = state >> 24
    return out.reshape(height, width, 3)


def make_resize():
    rows = []
    sizes = [(1, 1, 448, 448), (2, 3, 5, 7), (5, 4, 4, 5), (16, 16, 16, 16), (17, 9, 17, 30), (17, 9, 40, 9), (101, 67, 448, 297),
             (640, 480, 10, 11), (500, 3, 13, 448), (3, 500, 448, 13), (300, 200, 299, 201), (449, 31, 448, 30), (1000, 7, 1, 1),
             (33, 65, 31, 64), (257, 255, 1, 300), (64, 64, 63, 63), (64, 64, 65, 65), (2000, 2, 448, 10), (60, 500, 50, 417),
             (40, 300, 33, 247), (53, 56, 33, 5), (50, 50, 36, 32), (20, 400, 20, 100)]
    for width, height, out_width, out_height in sizes:
        image = Image.fromarray(noise_image(width, height)).resize((out_width, out_height), Image.BILINEAR)
        rows.append([width, height, out_width, out_height, hashlib.sha256(image.tobytes()).hexdigest()])
    return {"columns": ["width", "height", "out_width", "out_height", "sha256"], "rows": rows}


def crop_rule(width, height, limit):
    """The publisher's dynamic_preprocess, from the semantics sheet (section 5)."""
    cols, rows = -(-width // 448), -(-height // 448)
    if cols * rows > limit:
        pairs = {(i, j) for n in range(1, limit + 1) for i in range(1, n + 1) for j in range(1, n + 1) if i * j <= limit}
        best, area, choice = float("inf"), width * height, (1, 1)
        for i, j in sorted(pairs, key=lambda pair: pair[0] * pair[1]):
            distance = abs(width / height - i / j)
            if distance < best:
                best, choice = distance, (i, j)
            elif distance == best and area > 0.5 * 448 * 448 * i * j:
                choice = (i, j)
        cols, rows = choice
    full_width, full_height = 448 * cols, 448 * rows
    ratio_width, ratio_height = full_width / width, full_height / height
    if ratio_width < ratio_height:
        size = (full_width, int(height * ratio_width))
    else:
        size = (int(width * ratio_height), full_height)
    if min(size) < 10:
        return None
    valid_cols = 32 * cols - (full_width - size[0]) // 14
    valid_rows = 32 * rows - (full_height - size[1]) // 14
    tokens = -(-valid_rows // 2) * (-(-valid_cols // 2) + 1) + 1 + 16 * 17
    return [cols, rows, *size, tokens]


def make_crop_limits():
    chooser = random.Random(3)
    rows = []
    for limit in range(1, 37):
        sizes = [(4000, 3000), (3000, 4000), (448 * 9, 448 * 9), (900, 897), (5000, 400), (1344, 896)]
        sizes += [(448 * 8 * i, 448 * 8 * j) for i, j in ((3, 2), (2, 3), (5, 4), (1, 1), (7, 2))]  # ties
        sizes += [(int(2 ** chooser.uniform(5, 13)), int(2 ** chooser.uniform(5, 13))) for _ in range(12)]
        rows += [[*size, limit, *(crop_rule(*size, limit) or [])] for size in sizes]
    return {"columns": ["width", "height", "limit", "cols", "rows", "resized_width", "resized_height", "tokens"], "rows": rows}


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, separators=(",", ":")).replace("],[", "],\n[").replace('},"', '},\n"')
    path.write_text(text + "\n")


def main():
    write_json(ROOT / "tests/media/data/resize.json", make_resize())
    write_json(ROOT / "tests/models/data/crop_limits.json", make_crop_limits())


if __name__ == "__main__":
    main()

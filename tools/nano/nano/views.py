"""Pictures as the tower and the decoder take them: crops, patches in cells of 2x2, positions in the sequence.

Training at a crop's full size would spend its time on empty background. A view therefore may keep all cells that show something and a random
part of the others, whose weight in attention is raised by log(all / kept): the sums over keys keep their expected value. Inference
and the last part of training see every cell.
"""
from dataclasses import dataclass

import numpy as np

from .pictures import patch_centres

FIELDS = ("patches", "positions", "weights", "labels", "order", "token_weights")  # the arrays of Views


@dataclass
class Views:
    """B pictures of the same form: V crops each (the last is the global view; V = 1: it is the local crop, too)."""
    patches: np.ndarray     # uint8 [B * V, 4 * K, 588]
    positions: np.ndarray   # int64 [B * V, 4 * K]: row of the position table
    weights: np.ndarray     # float32 [B * V, 4 * K]: added to attention scores of these keys
    labels: np.ndarray      # uint8 [B * V, 5, 4 * K]
    order: np.ndarray       # int64 [B, tokens]: place in the picture's sequence, in the order of model.Eyes
    token_weights: np.ndarray  # float32 [B, tokens]
    length: int             # tokens of a whole picture
    local_rows: int
    view_rows: int
    crops: int              # V


def cells_of(image, labels, grid):
    """uint8 [H, W, 3], labels function -> (patches [cells, 4, 588], labels [5, cells, 4]) for grid = (rows, cols) of cells."""
    rows, cols = grid
    H, W = rows * 28, cols * 28
    x = image[:H, :W].reshape(rows, 2, 14, cols, 2, 14, 3).transpose(0, 3, 1, 4, 6, 2, 5).reshape(rows * cols, 4, 588)
    gx, gy = patch_centres(rows * 2, cols * 2)
    y = labels(gx, gy).reshape(5, rows, 2, cols, 2).transpose(0, 1, 3, 2, 4).reshape(5, rows * cols, 4)
    return x, y


def grow(shown):
    """Cells [rows, cols] that show something, and those beside them."""
    grown = shown.copy()
    grown[1:] |= shown[:-1]
    grown[:-1] |= shown[1:]
    out = grown.copy()
    out[:, 1:] |= grown[:, :-1]
    out[:, :-1] |= grown[:, 1:]
    return out


def keep_cells(rng, shown, K, grid):
    """(indices [K], log weight [K]): cells that show something with a margin, and some of the others."""
    n = len(shown)
    if K >= n:
        return np.arange(n), np.zeros(n, np.float32)
    rows, cols = grid
    grown = grow(shown.reshape(rows, cols))
    front = np.flatnonzero(grown.ravel())
    if len(front) > K - 8:
        return None
    back = np.flatnonzero(~grown.ravel())
    some = rng.choice(back, K - len(front), replace=False)
    weight = np.concatenate([np.zeros(len(front)), np.full(len(some), np.log(len(back) / len(some)))]).astype(np.float32)
    return np.concatenate([front, some]), weight


def patch_positions(cells, grid, offset, table):
    """Rows of the table x table positions for cells [K] of a window at patch offset (row, column) -> [K, 4]."""
    r, c = np.divmod(cells, grid[1])
    base = (2 * r + offset[0]) * table + 2 * c + offset[1]
    return base[:, None] + np.array([0, 1, table, table + 1])[None]


def spread_positions(cells, grid, rows, cols):
    """The same for a 448 px crop of which only rows x cols patches are valid: they are spread over the table (bucket of i / n)."""
    bucket = lambda n: np.minimum(np.floor(np.arange(n) * (1 / n) * 32 + 1e-6), 31).astype(np.int64)
    R, C = bucket(rows), bucket(cols)
    r, c = np.divmod(cells, grid[1])
    pick = lambda table, i: table[np.minimum(i, len(table) - 1)]
    out = [pick(R, 2 * r + dr) * 32 + pick(C, 2 * c + dc) for dr in (0, 1) for dc in (0, 1)]
    return np.stack(out, 1)


def sequence_order(local_cells, local_grid, view_cells, view_grid):
    """Places of local cells, their separators, glb_GN, global cells and their separators; and the length of the whole."""
    def part(cells, grid):
        rows, cols = grid
        r, c = np.divmod(cells, cols)
        return np.concatenate([r * (cols + 1) + c, np.arange(rows) * (cols + 1) + cols]), rows * (cols + 1)
    a, n = part(local_cells, local_grid)
    b, m = part(view_cells, view_grid)
    return np.concatenate([a, [n], b + n + 1]), n + 1 + m


def square_views(rng, items, K, family):
    """`items`: [(image, labels, facts)] of one square size S, a multiple of 28 and at most a crop's. Each crop is both local and
    global; a smaller window sits at a random place of the position table. Items that need more than K cells are left out."""
    S = items[0][0].shape[0]
    grid = (S // 28, S // 28)
    n = grid[0]
    K = min(K, n * n)
    out = {k: [] for k in FIELDS}
    kept = []
    for image, labels, facts in items:
        x, y = cells_of(image, labels, grid)
        chosen = keep_cells(rng, y[0].max(1) > 0, K, grid)
        if chosen is None:
            continue
        cells, weight = chosen
        offset = rng.integers(0, family.patches - 2 * n + 1, 2)
        out["patches"].append(x[cells].reshape(-1, 588))
        out["labels"].append(y[:, cells].reshape(5, -1))
        out["positions"].append(patch_positions(cells, grid, offset, family.patches).ravel())
        out["weights"].append(np.repeat(weight, 4))
        order, length = sequence_order(cells, grid, cells, grid)
        out["order"].append(order)
        rest = np.zeros(n, np.float32)
        out["token_weights"].append(np.concatenate([weight, rest, [0], weight, rest]).astype(np.float32))
        kept.append(facts)
    return Views(**{k: np.stack(v) for k, v in out.items()}, length=length, local_rows=n, view_rows=n, crops=1), kept


def cells_needed(image, labels):
    """Cells that show something, margin included; what `keep_cells` has to keep."""
    grid = (image.shape[0] // 28, image.shape[1] // 28)
    gx, gy = patch_centres(grid[0] * 2, grid[1] * 2)
    shown = labels(gx, gy)[0].reshape(grid[0], 2, grid[1], 2).max((1, 3)) > 0
    return int(grow(shown).sum())


def halves(n):
    """Sampling of the global view along an axis of n crops: [(first offset within a group of n, weight)]."""
    if n % 2:
        return [(n // 2, 1.0)]
    return [(n // 2 - 2 + i, w) for i, w in enumerate((-.09375, .59375, .59375, -.09375))]


def global_view(padded, cw, ch):
    """uint8 [S ch, S cw, 3] -> uint8 [S, S, 3] as the processor's bicubic view, rounded."""
    side = padded.shape[0] // ch

    def axis(x, n, dim):
        if n == 1:
            return x
        index = np.arange(side) * n
        out = 0
        for offset, w in halves(n):
            out = out + w * np.take(x, np.clip(index + offset, 0, side * n - 1), dim)
        return out
    x = axis(axis(padded.astype(np.float32), cw, 1), ch, 0)
    return np.clip(np.rint(x), 0, 255).astype(np.uint8)


def centre_in_crops(items, cw, ch, crop):
    """Items whose pictures stand in the middle of cw x ch crops of white, as the processor of Phi-3.5-vision pads them."""
    out = []
    for image, labels, facts in items:
        h, w = image.shape[:2]
        top, left = (crop * ch - h) // 2, (crop * cw - w) // 2
        padded = np.full((crop * ch, crop * cw, 3), 255, np.uint8)
        padded[top:top + h, left:left + w] = image
        out.append((padded, lambda gx, gy, labels=labels, top=top, left=left: labels(gx - left, gy - top), facts))
    return out


def crop_views(rng, items, cw, ch, family, least=80):
    """`items`: [(image [h, w, 3], labels, facts)] of one size that fills cw x ch crops in one direction at least."""
    if family.centred:
        items = centre_in_crops(items, cw, ch, family.crop)
    side, P, C = family.crop, family.patches, family.cells
    h, w = items[0][0].shape[:2]
    rows, cols = P * ch - (side * ch - h) // 14, P * cw - (side * cw - w) // 14
    cell_rows, cell_cols = -(-rows // 2), -(-cols // 2)
    crops = []  # per item and crop: (patches, labels, shown, cells, place in the sequence, positions, valid)
    for image, labels, _ in items:
        padded = np.full((side * ch, side * cw, 3), 255, np.uint8)
        padded[:h, :w] = image
        x, y = cells_of(padded, labels, (C * ch, C * cw))
        x, y = x.reshape(C * ch, C * cw, 4, 588), y.reshape(5, C * ch, C * cw, 4)
        y = np.where((np.arange(5) == 2)[:, None, None, None] | (np.arange(5) == 4)[:, None, None, None], np.where(y[0:1] > 0, 255, 0), y).astype(np.uint8)
        if cw * ch == 1:
            y = cells_of(padded, labels, (C, C))[1].reshape(5, C, C, 4)
        row = []
        for j in range(ch):
            for i in range(cw):
                r, c = min(C, cell_rows - C * j), min(C, cell_cols - C * i)
                if r <= 0 or c <= 0:
                    r = c = 0
                grid = np.arange(C * C).reshape(C, C)[:r, :c].ravel()
                R, K = np.divmod(grid, C)
                pr, pc = min(P, rows - P * j), min(P, cols - P * i)
                position = (patch_positions(grid, (C, C), (0, 0), P) if family.centred else
                            spread_positions(grid, (C, C), max(pr, 1), max(pc, 1)))
                valid = np.stack([(2 * R + a < pr) & (2 * K + b < pc) for a in (0, 1) for b in (0, 1)], 1).reshape(-1, 4)
                row.append((x[C * j:C * j + C, C * i:C * i + C].reshape(C * C, 4, 588)[grid],
                            y[:, C * j:C * j + C, C * i:C * i + C].reshape(5, C * C, 4)[:, grid],
                            (max(r, 0), max(c, 0)), (R + C * j) * (cell_cols + 1) + K + C * i, np.where(valid, position, 0), valid))
        view = global_view(padded, cw, ch)
        x, y = cells_of(view, lambda gx, gy: labels(gx * cw, gy * ch), (C, C))
        every = np.arange(C * C)
        R, K = np.divmod(every, C)
        first = cell_rows * (cell_cols + 1) + 1
        row.append((x, y, (C, C), first + R * (C + 1) + K, patch_positions(every, (C, C), (0, 0), P), np.ones((C * C, 4), bool)))
        crops.append(row)
    V = cw * ch + 1
    need = 0
    for row in crops:
        for x, y, (r, c), *_ in row:
            if r * c:
                near = y[0].reshape(r, c, 4).max(2) > 0
                need = max(need, int(grow(near).sum()) + 24)
    K = min(C * C, max(least, -(-need // 16) * 16))
    out = {k: [] for k in FIELDS}
    for row in crops:
        order, token_weights = [], []
        for x, y, (r, c), place, position, valid in row:
            n = r * c
            if n:
                cells, weight = keep_cells(rng, y[0].max(1) > 0, K, (r, c))
            else:
                cells, weight = np.zeros(0, np.int64), np.zeros(0, np.float32)
            missing = K - len(cells)
            pad = lambda a, v=0: np.concatenate([a, np.full((missing,) + a.shape[1:], v, a.dtype)])
            patch_weight = np.where(valid[cells], weight[:, None], -1e4).astype(np.float32)
            out["patches"].append(pad(x[cells], 127).reshape(-1, 588))
            out["labels"].append(np.moveaxis(pad(np.moveaxis(y[:, cells], 0, 1), 255), 1, 0).reshape(5, -1))
            out["positions"].append(pad(position[cells]).ravel())
            out["weights"].append(pad(patch_weight, -1e4).ravel())
            order.append(pad(place[cells]))
            token_weights.append(pad(weight, -1e4))
        separators = np.arange(cell_rows) * (cell_cols + 1) + cell_cols
        ends = first + np.arange(C) * (C + 1) + C
        out["order"].append(np.concatenate(order[:-1] + [separators, [first - 1], order[-1], ends]))
        zero = lambda n: np.zeros(n, np.float32)
        out["token_weights"].append(np.concatenate(token_weights[:-1] + [zero(cell_rows + 1), token_weights[-1], zero(C)]).astype(np.float32))
    views = Views(**{k: np.stack(v) for k, v in out.items()}, length=first + C * (C + 1), local_rows=cell_rows, view_rows=C, crops=V)
    return views, [facts for _, _, facts in items]

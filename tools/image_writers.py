"""Writers of PNG, GIF, BMP and EXIF blocks with every trait that Pillow can't write. For tools/make_image_fixtures.py."""
import struct
import zlib

import numpy as np


def exif_block(orientation, order="<", type_long=False):
    magic = b"II" if order == "<" else b"MM"
    value = struct.pack(order + "I", orientation) if type_long else struct.pack(order + "HH", orientation, 0)
    entries = struct.pack(order + "HHI", 0x010F, 2, 4) + b"abc\0"  # a maker's name in front
    entries += struct.pack(order + "HHI", 0x0112, 4 if type_long else 3, 1) + value
    return magic + struct.pack(order + "HIH", 42, 8, 2) + entries + struct.pack(order + "I", 0)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed_rows(samples, depth):
    """[h, w, channels] to PNG rows."""
    height = samples.shape[0]
    flat = samples.reshape(height, -1)
    if depth == 16:
        return [row.astype(">u2").tobytes() for row in flat]
    if depth == 8:
        return [row.astype(np.uint8).tobytes() for row in flat]
    bits = (flat[..., None].astype(int) >> np.arange(depth - 1, -1, -1) & 1).reshape(height, -1).astype(np.uint8)
    return [np.packbits(row).tobytes() for row in bits]


def png(samples, depth, colour, extra=b"", late=b"", interlaced=False):
    if samples.ndim == 2:
        samples = samples[..., None]
    height, width = samples.shape[:2]
    passes = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
    raw = b""
    for x, y, step_x, step_y in passes if interlaced else [(0, 0, 1, 1)]:
        part = samples[y::step_y, x::step_x]
        if part.size:
            raw += b"".join(b"\0" + row for row in packed_rows(part, depth))
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, int(interlaced))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", zlib.compress(raw)) + late +
            chunk(b"IEND", b""))


def lzw_literals(indices, bits):
    """GIF codes without compression: a clear code often enough that the code size never grows."""
    clear, end, size = 1 << bits, (1 << bits) + 1, bits + 1
    codes = []
    for i, index in enumerate(indices):
        if i % ((1 << bits) - 2) == 0:
            codes.append(clear)
        codes.append(int(index))
    codes.append(end)
    value, out, used = 0, bytearray(), 0
    for code in codes:
        value |= code << used
        used += size
        while used >= 8:
            out.append(value & 255)
            value >>= 8
            used -= 8
    if used:
        out.append(value & 255)
    blocks = b"".join(bytes([len(out[i:i + 255])]) + bytes(out[i:i + 255]) for i in range(0, len(out), 255))
    return bytes([bits]) + blocks + b"\0"


def gif(screen, frames, palette=None, background=0):
    """frames: (left, top, indices, palette, transparent, interlaced)."""
    def table(colours):
        return np.pad(colours, ((0, (1 << bits_of(colours)) - len(colours)), (0, 0))).astype(np.uint8).tobytes()

    def bits_of(colours):
        return max(1, (len(colours) - 1).bit_length())

    flags = 0x80 | bits_of(palette) - 1 if palette is not None else 0
    out = b"GIF89a" + struct.pack("<HHBBB", *screen, flags, background, 0)
    if palette is not None:
        out += table(palette)
    for left, top, indices, local, transparent, interlaced in frames:
        if transparent is not None:
            out += b"\x21\xf9\x04" + struct.pack("<BHB", 1, 5, transparent) + b"\0"
        height, width = indices.shape
        flags = (0x80 | bits_of(local) - 1 if local is not None else 0) | (0x40 if interlaced else 0)
        out += b"\x2c" + struct.pack("<HHHHB", left, top, width, height, flags)
        if local is not None:
            out += table(local)
        rows = [*range(0, height, 8), *range(4, height, 8), *range(2, height, 4), *range(1, height, 2)]
        order = indices[rows] if interlaced else indices
        out += lzw_literals(order.reshape(-1), max(2, int(indices.max()).bit_length()))
    return out + b"\x3b"


def bmp_rows(pixels, bits, top_down):
    order = pixels if top_down else pixels[::-1]
    out = b""
    for row in order:
        if bits <= 8:
            expanded = (row[:, None].astype(int) >> np.arange(bits - 1, -1, -1) & 1).reshape(-1).astype(np.uint8)
            data = np.packbits(expanded).tobytes()
        else:
            data = row.astype({16: "<u2", 32: "<u4"}[bits]).tobytes() if bits != 24 else row[:, ::-1].astype(np.uint8).tobytes()
        out += data + b"\0" * (-len(data) % 4)
    return out


def bmp(width, height, bits, data, palette=None, header=40, compression=0, masks=(), colours=0, gap=0):
    if header == 12:
        info = struct.pack("<IHHHH", 12, width, height, 1, bits)
        table = b"" if palette is None else np.ascontiguousarray(palette[:, ::-1]).tobytes()
    else:
        info = struct.pack("<IiiHHIIiiII", header, width, height, 1, bits, compression, len(data), 2835, 2835, colours, 0)
        extra = b"".join(struct.pack("<I", m) for m in masks)
        info = info[:header] if header < 40 else info + extra
        info += b"\0" * (header - len(info))
        table = b"" if palette is None else np.pad(palette[:, ::-1], ((0, 0), (0, 1))).astype(np.uint8).tobytes()
    offset = 14 + len(info) + len(table) + gap
    return b"BM" + struct.pack("<IHHI", offset + len(data), 0, 0, offset) + info + table + b"\0" * gap + data


def rle(rows, nibbles):
    """Runs and literals in turn, a jump, and end marks."""
    out = bytearray()
    for row in rows[::-1]:
        x = 0
        while x < len(row):
            run = 1
            while x + run < len(row) and row[x + run] == row[x] and run < 255:
                run += 1
            if run >= 2 or len(row) - x < 3:
                out += bytes([run, int(row[x]) * 17 if nibbles else int(row[x])])
                x += run
                continue
            count = min(5, len(row) - x)
            literal = [int(v) for v in row[x:x + count]]
            if nibbles:
                literal += [0] * (count % 2)
                body = bytes(a << 4 | b for a, b in zip(literal[::2], literal[1::2]))
            else:
                body = bytes(literal)
            out += bytes([0, count]) + body + b"\0" * (len(body) % 2)
            x += count
        out += b"\0\0"
    return bytes(out[:-2]) + b"\0\1"

#!/usr/bin/env python3
"""Makes the image fixtures of the tests and the pixels that they are held to. Developers only: needs Pillow 13, NumPy,
tifffile and imagecodecs.

  tests/fuzz/corpus/image/   one small file for each format and trait; fixtures of the decoder tests and seeds of the fuzzer
  tests/media/data/images.json     for each file the RGB pixels as the reference sees them (Pillow's convert("RGB")) and as a
                                   viewer shows them (upright, over white, 16 bits scaled to 8)
tools/make_image_tables.py makes the tables of the resize and of the crop rule.

Files that Pillow can't write are put together here byte by byte; the pixels that they are made from are then the oracle.
"""
import base64
import io
import json
import pathlib
import struct

import numpy as np
import tifffile
from PIL import Image, ImageOps

from image_writers import bmp, bmp_rows, chunk, exif_block, gif, png, rle

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests/fuzz/corpus/image"
RNG = np.random.default_rng(20240607)
FIXTURES = {}  # name -> (bytes, viewer pixels, reference pixels or None for Pillow's)


def smooth(width, height, channels):
    """A picture with slopes and a few sharp spots, so that chroma upsampling and rounding show."""
    y, x = np.mgrid[0:height, 0:width]
    planes = [127 + 127 * np.sin(x / (2.0 + c) + c) * np.cos(y / (3.0 - 0.4 * c)) for c in range(channels)]
    picture = np.stack(planes, -1)
    picture[height // 3, :, 0] = 255
    picture[:, width // 2, channels - 1] = 0
    return np.clip(np.round(picture), 0, 255).astype(np.uint8)


def over_white(rgb, alpha):
    rgb, alpha = rgb.astype(np.float64), alpha.astype(np.float64)[..., None]
    return np.round((rgb * alpha + 255 * (255 - alpha)) / 255).astype(np.uint8)


def scale16(values):
    return np.round(values.astype(np.float64) * 255 / 65535).astype(np.uint8)


def grey3(plane):
    return np.repeat(plane[..., None], 3, -1)


def add(name, data, viewer=None, reference=None):
    """viewer None: as Pillow's after exif_transpose, for opaque files. reference None: Pillow's."""
    assert name not in FIXTURES
    if viewer is None:
        viewer = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
    if reference is None:
        reference = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    FIXTURES[name] = (data, np.asarray(viewer), np.asarray(reference))


def saved(image, form, **options):
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


# ---- EXIF ------------------------------------------------------------------------------------------------------------
def upright(pixels, orientation):
    steps = {1: lambda p: p, 2: lambda p: p[:, ::-1], 3: lambda p: p[::-1, ::-1], 4: lambda p: p[::-1],
             5: lambda p: p.transpose(1, 0, 2), 6: lambda p: np.rot90(p, -1), 7: lambda p: p[::-1, ::-1].transpose(1, 0, 2),
             8: lambda p: np.rot90(p, 1)}
    return np.ascontiguousarray(steps[orientation](pixels))


# ---- JPEG ------------------------------------------------------------------------------------------------------------
def make_jpeg():
    rgb = Image.fromarray(smooth(37, 29, 3))
    add("baseline_420.jpg", saved(rgb, "JPEG", quality=85))
    add("baseline_422.jpg", saved(rgb, "JPEG", quality=85, subsampling=1))
    add("baseline_444.jpg", saved(rgb, "JPEG", quality=90, subsampling=0))
    add("optimised.jpg", saved(rgb, "JPEG", quality=60, optimize=True))
    add("restart.jpg", saved(rgb, "JPEG", quality=75, restart_marker_blocks=2))
    add("progressive.jpg", saved(rgb, "JPEG", quality=80, progressive=True))
    add("rgb_adobe.jpg", saved(rgb, "JPEG", quality=90, keep_rgb=True))
    add("one_pixel.jpg", saved(rgb.crop((3, 3, 4, 4)), "JPEG"))
    grey = Image.fromarray(smooth(21, 18, 3)[..., 0])
    add("grey.jpg", saved(grey, "JPEG", quality=85))
    add("grey_progressive.jpg", saved(grey, "JPEG", quality=85, progressive=True))
    cmyk = Image.fromarray(smooth(23, 19, 4), "CMYK")
    data = saved(cmyk, "JPEG", quality=90)
    add("cmyk_adobe.jpg", data)
    # The same stream marked YCCK: Adobe's transform flag is the last byte of its marker.
    at = data.index(b"Adobe")
    add("ycck_adobe.jpg", data[:at + 11] + b"\x02" + data[at + 12:])
    add("cmyk_plain.jpg", data[:at - 4] + data[at + 12:])
    small = smooth(20, 11, 3)
    for orientation in range(1, 9):
        data = saved(Image.fromarray(small), "JPEG", quality=90, exif=b"Exif\0\0" + exif_block(orientation))
        plain = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
        add(f"exif_{orientation}.jpg", data, upright(plain, orientation), plain)
    data = saved(Image.fromarray(small), "JPEG", exif=b"Exif\0\0" + exif_block(6, ">", True))
    plain = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
    add("exif_long_big_endian.jpg", data, upright(plain, 6), plain)
    data = saved(Image.fromarray(small), "JPEG", exif=b"Exif\0\0" + exif_block(9))
    add("exif_out_of_range.jpg", data, plain := np.asarray(Image.open(io.BytesIO(data)).convert("RGB")), plain)


# ---- PNG -------------------------------------------------------------------------------------------------------------
def make_png():
    for depth in (1, 2, 4, 8):
        grey = RNG.integers(0, 1 << depth, (13, 19))
        eight = grey3((grey * (255 // ((1 << depth) - 1))).astype(np.uint8))
        add(f"grey{depth}.png", png(grey, depth, 0), eight)
        if depth < 8:
            add(f"grey{depth}_interlaced.png", png(grey, depth, 0, interlaced=True), eight)
        transparent = int(grey[2, 3])
        alpha = np.where(grey == transparent, 0, 255)
        add(f"grey{depth}_trns.png", png(grey, depth, 0, chunk(b"tRNS", struct.pack(">H", transparent))),
            over_white(eight, alpha), eight)
        palette = RNG.integers(0, 256, (1 << depth, 3), dtype=np.uint8)
        colours = palette[grey]
        plte = chunk(b"PLTE", palette.tobytes())
        add(f"palette{depth}.png", png(grey, depth, 3, plte), colours)
        alphas = RNG.integers(0, 256, max(1, (1 << depth) - 1), dtype=np.uint8)
        full = np.concatenate([alphas, np.full(256 - len(alphas), 255, np.uint8)])
        add(f"palette{depth}_trns_interlaced.png",
            png(grey, depth, 3, plte + chunk(b"tRNS", alphas.tobytes()), interlaced=True),
            over_white(colours, full[grey]), colours)
    rgb = smooth(19, 13, 3)
    add("rgb8.png", png(rgb, 8, 2), rgb)
    add("rgb8_interlaced.png", png(rgb, 8, 2, interlaced=True), rgb)
    key = tuple(int(v) for v in rgb[4, 5])
    alpha = np.where((rgb == rgb[4, 5]).all(-1), 0, 255)
    add("rgb8_trns.png", png(rgb, 8, 2, chunk(b"tRNS", struct.pack(">HHH", *key))), over_white(rgb, alpha), rgb)
    rgba = np.concatenate([rgb, RNG.integers(0, 256, (13, 19, 1), dtype=np.uint8)], -1)
    add("rgba8.png", png(rgba, 8, 6), over_white(rgb, rgba[..., 3]), rgb)
    add("rgba8_interlaced.png", png(rgba, 8, 6, interlaced=True), over_white(rgb, rgba[..., 3]), rgb)
    add("grey_alpha8.png", png(rgba[..., [0, 3]], 8, 4), over_white(grey3(rgb[..., 0]), rgba[..., 3]), grey3(rgb[..., 0]))

    wide = RNG.integers(0, 65536, (13, 19, 4)).astype(np.uint16)
    wide[0, 0], wide[0, 1], wide[0, 2], wide[0, 3] = 0, 65535, 128, 129
    for interlaced in (False, True):
        tail = "_interlaced" if interlaced else ""
        add(f"grey16{tail}.png", png(wide[..., 0], 16, 0, interlaced=interlaced), grey3(scale16(wide[..., 0])),
            grey3(np.minimum(wide[..., 0], 255).astype(np.uint8)))
        add(f"rgb16{tail}.png", png(wide[..., :3], 16, 2, interlaced=interlaced), scale16(wide[..., :3]),
            (wide[..., :3] >> 8).astype(np.uint8))
        add(f"rgba16{tail}.png", png(wide, 16, 6, interlaced=interlaced),
            over_white(scale16(wide[..., :3]), scale16(wide[..., 3])), (wide[..., :3] >> 8).astype(np.uint8))
    add("grey_alpha16.png", png(wide[..., [0, 3]], 16, 4),
        over_white(grey3(scale16(wide[..., 0])), scale16(wide[..., 3])), grey3((wide[..., 0] >> 8).astype(np.uint8)))
    # The transparent grey differs from another one in its low byte only.
    near = wide[..., 0].copy()
    near[5, 5], near[5, 6] = 0x1234, 0x1235
    add("grey16_trns.png", png(near, 16, 0, chunk(b"tRNS", struct.pack(">H", 0x1234))),
        over_white(grey3(scale16(near)), np.where(near == 0x1234, 0, 255)),
        grey3(np.minimum(near, 255).astype(np.uint8)))
    add("exif_early.png", png(rgb, 8, 2, chunk(b"eXIf", exif_block(8))), upright(rgb, 8), rgb)
    add("exif_late.png", png(rgb, 8, 2, late=chunk(b"eXIf", exif_block(6, ">"))), upright(rgb, 6), rgb)
    # Colour management is not applied: a gamma chunk changes nothing.
    add("gamma.png", png(rgb, 8, 2, chunk(b"gAMA", struct.pack(">I", 100000))), rgb, rgb)


# ---- WebP ------------------------------------------------------------------------------------------------------------
def make_webp():
    rgb = smooth(37, 29, 3)
    rgba = np.concatenate([rgb, RNG.integers(0, 256, (29, 37, 1), dtype=np.uint8)], -1)
    add("lossy.webp", saved(Image.fromarray(rgb), "WEBP", quality=80))
    add("lossless.webp", saved(Image.fromarray(rgb), "WEBP", lossless=True), rgb, rgb)
    data = saved(Image.fromarray(rgba), "WEBP", lossless=True, exact=True)
    add("lossless_alpha.webp", data, over_white(rgb, rgba[..., 3]), rgb)
    data = saved(Image.fromarray(rgba), "WEBP", quality=70)
    decoded = np.asarray(Image.open(io.BytesIO(data)).convert("RGBA"))
    add("lossy_alpha.webp", data, over_white(decoded[..., :3], decoded[..., 3]))
    data = saved(Image.fromarray(rgb), "WEBP", lossless=True, exif=b"Exif\0\0" + exif_block(6))
    add("exif.webp", data, upright(rgb, 6), rgb)
    data = saved(Image.fromarray(rgb), "WEBP", lossless=True, exif=exif_block(5, ">"))
    add("exif_bare.webp", data, upright(rgb, 5), rgb)
    frames = [Image.fromarray(rgba), Image.fromarray(255 - rgba)]
    data = saved(frames[0], "WEBP", save_all=True, append_images=frames[1:], lossless=True, exact=True)
    add("animated.webp", data, over_white(rgb, rgba[..., 3]))


# ---- GIF -------------------------------------------------------------------------------------------------------------
def make_gif():
    palette = RNG.integers(0, 256, (16, 3), dtype=np.uint8)
    local = RNG.integers(0, 256, (8, 3), dtype=np.uint8)
    indices = RNG.integers(0, 16, (13, 19))
    low = RNG.integers(0, 8, (13, 19))
    plain = palette[indices]
    add("plain.gif", gif((19, 13), [(0, 0, indices, None, None, False)], palette), plain, plain)
    add("interlaced.gif", gif((19, 13), [(0, 0, indices, None, None, True)], palette), plain, plain)
    add("local_palette.gif", gif((19, 13), [(0, 0, low, local, None, False)], palette), local[low])
    add("no_palette.gif", gif((19, 13), [(0, 0, indices, None, None, False)]), grey3(indices.astype(np.uint8)))
    white = np.where((indices == 5)[..., None], 255, plain).astype(np.uint8)
    add("transparent.gif", gif((19, 13), [(0, 0, indices, None, 5, False)], palette), white, plain)
    canvas = np.full((20, 30, 3), 255, np.uint8)
    canvas[4:17, 6:25] = plain
    add("offset.gif", gif((30, 20), [(6, 4, indices, None, None, False)], palette, 3), canvas)
    canvas = canvas.copy()
    canvas[4:17, 6:25] = white
    add("offset_transparent.gif", gif((30, 20), [(6, 4, indices, None, 5, True)], palette, 3), canvas)
    canvas = np.full((17, 25, 3), 255, np.uint8)
    canvas[4:17, 6:25] = plain
    add("screen_too_small.gif", gif((10, 8), [(6, 4, indices, None, None, False)], palette), canvas)
    add("zero_screen.gif", gif((0, 0), [(0, 0, indices, None, None, False)], palette), plain, plain)
    add("two_frames.gif", gif((19, 13), [(0, 0, indices, None, None, False), (0, 0, 15 - indices, None, 2, False)], palette),
        plain, plain)
    add("pillow.gif", saved(Image.fromarray(smooth(40, 31, 3)).quantize(64), "GIF"))


# ---- BMP -------------------------------------------------------------------------------------------------------------
def make_bmp():
    for bits in (1, 2, 4, 8):
        palette = RNG.integers(0, 256, (1 << bits, 3), dtype=np.uint8)
        indices = RNG.integers(0, 1 << bits, (13, 19))
        pixels = palette[indices]
        data = bmp_rows(indices, bits, False)
        known = pixels if bits == 2 else None  # Pillow has no 2-bit BMP
        add(f"indexed{bits}.bmp", bmp(19, 13, bits, data, palette), pixels, known)
        add(f"os2_indexed{bits}.bmp", bmp(19, 13, bits, data, palette, header=12), pixels, known)
    palette = RNG.integers(0, 256, (10, 3), dtype=np.uint8)
    few = RNG.integers(0, 10, (13, 19))
    add("short_palette.bmp", bmp(19, 13, 8, bmp_rows(few, 8, False), palette, colours=10, gap=6), palette[few])
    data = bytearray(bmp(19, 13, 8, bmp_rows(few, 8, False), palette, colours=10))
    data[10:14] = struct.pack("<I", 54)  # the pixels are said to start where the palette does
    add("offset_of_palette.bmp", bytes(data), palette[few])
    add("os2_16.bmp", bmp(19, 13, 8, bmp_rows(few, 8, False), np.pad(palette, ((0, 246), (0, 0))), header=16),
        palette[few], palette[few])
    rgb = smooth(19, 13, 3)
    add("rgb24.bmp", bmp(19, 13, 24, bmp_rows(rgb, 24, False)), rgb, rgb)
    add("rgb24_top_down.bmp", bmp(19, -13, 24, bmp_rows(rgb, 24, True)), rgb, rgb)
    add("rgb24_os2.bmp", bmp(19, 13, 24, bmp_rows(rgb, 24, False), header=12), rgb, rgb)
    add("rgb24_os2_64.bmp", bmp(19, 13, 24, bmp_rows(rgb, 24, False), header=64), rgb, rgb)
    add("rgb24_v5.bmp", bmp(19, 13, 24, bmp_rows(rgb, 24, False), header=124), rgb, rgb)
    alpha = RNG.integers(1, 256, (13, 19))
    wide = rgb.astype(np.uint32)
    bgrx = alpha.astype(np.uint32) << 24 | wide[..., 0] << 16 | wide[..., 1] << 8 | wide[..., 2]
    add("rgb32.bmp", bmp(19, 13, 32, bmp_rows(bgrx, 32, False)), rgb, rgb)
    usual = (0xFF0000, 0xFF00, 0xFF, 0xFF000000)
    add("masks32.bmp", bmp(19, 13, 32, bmp_rows(bgrx, 32, False), compression=3, masks=usual[:3]), rgb, rgb)
    add("alpha32_v4.bmp", bmp(19, 13, 32, bmp_rows(bgrx, 32, False), compression=3, masks=usual, header=108),
        over_white(rgb, alpha), rgb)
    add("alpha32_v3.bmp", bmp(19, 13, 32, bmp_rows(bgrx, 32, False), compression=3, masks=usual, header=56),
        over_white(rgb, alpha), rgb)
    clear = bgrx & 0xFFFFFF
    add("alpha32_all_zero.bmp", bmp(19, 13, 32, bmp_rows(clear, 32, False), compression=3, masks=usual, header=108), rgb, rgb)
    swapped = wide[..., 0] << 24 | wide[..., 1] << 16 | wide[..., 2] << 8 | alpha.astype(np.uint32)
    add("masks32_rgba.bmp", bmp(19, 13, 32, bmp_rows(swapped, 32, False), compression=3,
                                masks=(0xFF000000, 0xFF0000, 0xFF00, 0xFF), header=108), over_white(rgb, alpha), rgb)
    deep = RNG.integers(0, 1 << 30, (13, 19)).astype(np.uint32)
    ten = np.stack([deep >> 20 & 1023, deep >> 10 & 1023, deep & 1023], -1) * 255 // 1023
    add("masks32_10bit.bmp", bmp(19, 13, 32, bmp_rows(deep, 32, False), compression=3,
                                 masks=(1023 << 20, 1023 << 10, 1023)), ten.astype(np.uint8), ten.astype(np.uint8))
    sixteen = RNG.integers(0, 65536, (13, 19)).astype(np.uint16)
    add("rgb555.bmp", bmp(19, 13, 16, bmp_rows(sixteen, 16, False)))
    add("rgb565.bmp", bmp(19, 13, 16, bmp_rows(sixteen, 16, False), compression=3, masks=(0xF800, 0x7E0, 0x1F)))
    four = np.stack([sixteen >> s & 15 for s in (8, 4, 0)], -1) * 17
    add("argb4444.bmp", bmp(19, 13, 16, bmp_rows(sixteen, 16, False), compression=3, masks=(0xF00, 0xF0, 0xF, 0xF000),
                            header=56), over_white(four.astype(np.uint8), (sixteen >> 12) * 17), four.astype(np.uint8))
    for bits in (4, 8):
        palette = RNG.integers(0, 256, (1 << bits, 3), dtype=np.uint8)
        indices = np.repeat(RNG.integers(0, 1 << bits, (13, 10)), RNG.integers(1, 4, 10), 1)
        indices = np.concatenate([indices, RNG.integers(0, 1 << bits, (13, 7))], 1)
        height, width = indices.shape
        known = palette[indices]
        data = bmp(width, height, bits, rle(indices, bits == 4), palette, compression=1 if bits == 8 else 2)
        add(f"rle{bits}.bmp", data, known, known)
    # Jumps over pixels, which stay index 0, and an early end.
    palette = RNG.integers(0, 256, (256, 3), dtype=np.uint8)
    expected = np.zeros((6, 8), int)
    expected[5, 0:3], expected[5, 5:7], expected[3, 2:4] = 7, 9, 8
    data = b"\3\7" + b"\0\2\2\0" + b"\2\x09" + b"\0\0" + b"\0\2\2\1" + b"\2\x08" + b"\0\1"
    add("rle8_jumps.bmp", bmp(8, 6, 8, data, palette, compression=1), palette[expected], palette[expected])
    # Runs that leave the row are cut.
    expected = np.array([[3] * 4, [5] * 4])
    data = b"\x09\5" + b"\0\0" + b"\4\3" + b"\0\1"
    add("rle8_overrun.bmp", bmp(4, 2, 8, data, palette, compression=1), palette[expected], palette[expected])


# ---- TIFF ------------------------------------------------------------------------------------------------------------
def tiff(array, big_endian=False, **options):
    out = io.BytesIO()
    options.setdefault("metadata", None)
    options.setdefault("software", False)
    tifffile.imwrite(out, array, byteorder=">" if big_endian else "<", **options)
    return out.getvalue()


def make_tiff():
    rgb = smooth(37, 29, 3)
    grey = rgb[..., 0]
    alpha = RNG.integers(0, 256, (29, 37, 1), dtype=np.uint8)
    rgba = np.concatenate([rgb, alpha], -1)
    over = over_white(rgb, alpha[..., 0])
    for name in ("lzw", "deflate", "packbits", "zstd"):
        add(f"rgb_{name}.tif", tiff(rgb, compression=name, photometric="rgb", rowsperstrip=7), rgb, rgb)
    add("rgb_predictor.tif", tiff(rgb, compression="lzw", predictor=True, photometric="rgb"), rgb, rgb)
    add("rgb_plain.tif", tiff(rgb, photometric="rgb"), rgb, rgb)
    add("rgb_big_endian.tif", tiff(rgb, True, photometric="rgb"), rgb, rgb)
    add("rgb_bigtiff.tif", tiff(rgb, photometric="rgb", bigtiff=True), rgb, rgb)
    add("rgb_tiled.tif", tiff(rgb, photometric="rgb", tile=(16, 16), compression="deflate"), rgb, rgb)
    add("rgb_planar.tif", tiff(rgb.transpose(2, 0, 1), photometric="rgb", planarconfig="separate", rowsperstrip=5,
                               compression="lzw"), rgb, rgb)
    add("rgb_planar_tiled.tif", tiff(rgb.transpose(2, 0, 1), photometric="rgb", planarconfig="separate", tile=(16, 32)),
        rgb, rgb)
    add("rgba_straight.tif", tiff(rgba, photometric="rgb", extrasamples=["unassalpha"]), over, rgb)
    marked = tiff(rgba, photometric="rgb", extrasamples=["unassalpha"])
    at = marked.index(struct.pack("<HHI", 338, 3, 1))  # another number makes it a tag that nobody reads
    add("rgba_no_extra_tag.tif", marked[:at] + struct.pack("<H", 337) + marked[at + 2:], over, rgb)
    multiplied = np.concatenate([(rgb.astype(int) * alpha // 255).astype(np.uint8), alpha], -1)
    viewer = np.minimum(multiplied[..., :3].astype(int) + 255 - alpha, 255).astype(np.uint8)
    add("rgba_multiplied.tif", tiff(multiplied, photometric="rgb", extrasamples=["assocalpha"]), viewer)
    add("rgbx.tif", tiff(rgba, photometric="rgb", extrasamples=["unspecified"]), rgb, rgb)
    add("grey.tif", tiff(grey, photometric="minisblack"), grey3(grey), grey3(grey))
    add("grey_white_is_zero.tif", tiff(grey, photometric="miniswhite", compression="lzw"), grey3(255 - grey))
    pair = np.stack([grey, alpha[..., 0]], -1)
    add("grey_alpha.tif", tiff(pair, photometric="minisblack", planarconfig="contig", extrasamples=["unassalpha"]),
        over_white(grey3(grey), alpha[..., 0]), grey3(grey))
    wide = RNG.integers(0, 65536, (29, 37, 4)).astype(np.uint16)
    wide[0, 0], wide[0, 1] = 0, 65535
    for big_endian in (False, True):
        tail = "_big_endian" if big_endian else ""
        add(f"grey16{tail}.tif", tiff(wide[..., 0], big_endian, photometric="minisblack", compression="deflate"),
            grey3(scale16(wide[..., 0])), grey3(np.minimum(wide[..., 0], 255).astype(np.uint8)))
        add(f"rgb16{tail}.tif", tiff(wide[..., :3], big_endian, photometric="rgb", compression="lzw"),
            scale16(wide[..., :3]), (wide[..., :3] >> 8).astype(np.uint8))
    add("rgba16.tif", tiff(wide, photometric="rgb", extrasamples=["unassalpha"]),
        over_white(scale16(wide[..., :3]), scale16(wide[..., 3])), (wide[..., :3] >> 8).astype(np.uint8))
    cmyk = Image.fromarray(smooth(23, 19, 4), "CMYK")
    add("cmyk.tif", saved(cmyk, "TIFF", compression="tiff_lzw"))
    palette = Image.fromarray(rgb).quantize(50)
    add("palette.tif", saved(palette, "TIFF", compression="tiff_adobe_deflate"))
    bilevel = Image.fromarray((grey > 127).astype(np.uint8) * 255).convert("1")
    add("bilevel.tif", saved(bilevel, "TIFF"))
    add("bilevel_g4.tif", saved(bilevel, "TIFF", compression="group4"))
    add("bilevel_g3.tif", saved(bilevel, "TIFF", compression="group3"))
    add("jpeg.tif", saved(Image.fromarray(rgb), "TIFF", compression="jpeg", quality=85))
    add("jpeg_ycbcr.tif", tiff(rgb, photometric="ycbcr", compression="jpeg", subsampling=(2, 2)))
    for orientation in range(1, 9):
        add(f"orientation_{orientation}.tif",
            tiff(rgb[:11, :20], photometric="rgb", extratags=[(274, "H", 1, orientation, True)]),
            upright(rgb[:11, :20], orientation))
    out = io.BytesIO()
    with tifffile.TiffWriter(out) as writer:
        writer.write(rgb, photometric="rgb", metadata=None, software=False)
        writer.write(255 - rgb, photometric="rgb", metadata=None, software=False)
    add("two_pages.tif", out.getvalue(), rgb, rgb)


def write_json(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(value, separators=(",", ":")).replace("],[", "],\n[").replace('},"', '},\n"')
    path.write_text(text + "\n")


def main():
    for make in (make_jpeg, make_png, make_webp, make_gif, make_bmp, make_tiff):
        make()
    CORPUS.mkdir(parents=True, exist_ok=True)
    table = {}
    for name, (data, viewer, reference) in FIXTURES.items():
        (CORPUS / name).write_bytes(data)
        entry = {"width": viewer.shape[1], "height": viewer.shape[0],
                 "viewer": base64.b64encode(viewer.astype(np.uint8).tobytes()).decode()}
        if viewer.shape != reference.shape or (viewer != reference).any():
            entry["reference"] = {"width": reference.shape[1], "height": reference.shape[0],
                                  "rgb": base64.b64encode(reference.astype(np.uint8).tobytes()).decode()}
        table[name] = entry
        try:  # a known oracle must not contradict Pillow
            pillow = np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))
            if pillow.shape != reference.shape or (pillow != reference).any():
                print(f"{name}: Pillow differs from the pixels that it was made from")
        except Exception as error:
            print(f"{name}: Pillow: {error}")
    write_json(ROOT / "tests/media/data/images.json", table)
    print(len(table), "files,", sum(len(data) for data, _, _ in FIXTURES.values()), "bytes")


if __name__ == "__main__":
    main()

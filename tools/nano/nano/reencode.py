"""The same pictures and recordings in other formats. Recordings need the program ffmpeg."""
import subprocess

import numpy as np
from PIL import Image

from .examples import read_wav, write_wav

ORIENTATION = 0x0112  # EXIF
# Orientation -> how the upright picture is turned before it is stored.
STORED = {3: Image.ROTATE_180, 6: Image.ROTATE_90, 8: Image.ROTATE_270}


def turned_jpeg(picture, path, orientation):
    """Stored turned, with the EXIF entry that turns it back when it is shown."""
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    picture.transpose(STORED[orientation]).save(path, "JPEG", quality=95, subsampling=0, exif=exif.tobytes())


def picture_versions(original, orientation, gray):
    """{what: path} of other files of the PNG file `original`, beside it; a gray one only if asked for. orientation: of the one that is
    turned by EXIF; None: without that one."""
    with Image.open(original) as file:
        picture = file.convert("RGB")
    out = {"palette PNG": original + ".palette.png", "JPEG of quality 90": original + ".90.jpg"}
    if orientation:
        out["JPEG turned by EXIF"] = original + ".exif.jpg"
        turned_jpeg(picture, out["JPEG turned by EXIF"], orientation)
    picture.quantize(256).save(out["palette PNG"], compress_level=1)
    picture.save(out["JPEG of quality 90"], quality=90)
    if gray:
        out["gray PNG"] = original + ".gray.png"
        picture.convert("L").save(out["gray PNG"], compress_level=1)
    return out


def recording_versions(original):
    """{what: path} of other files of the WAV file `original`, beside it."""
    out = {"44.1 kHz WAV": original + ".44100.wav", "MP3": original + ".mp3", "M4A (AAC)": original + ".m4a",
           "stereo WAV": original + ".stereo.wav"}
    subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", "-i", original, "-ar", "44100", out["44.1 kHz WAV"],
                    "-b:a", "96k", out["MP3"], "-c:a", "aac", "-b:a", "96k", out["M4A (AAC)"]], check=True)
    write_wav(out["stereo WAV"], np.repeat(read_wav(original), 2), channels=2)
    return out

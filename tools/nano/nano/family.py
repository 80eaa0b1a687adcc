"""The two families of nano models: what differs in data and prompts. Needs no torch, as the evaluation uses it, too."""
import json
import math
import os
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class Family:
    model_type: str
    hears: bool             # takes recordings
    crop: int               # side of a crop in pixels
    heights: tuple          # of digits in pictures of that side: least and largest in pixels, as measured
    word_heights: tuple
    windows: dict           # side of a training picture: (digit heights, word heights)
    forms: tuple            # crops (across, down) of pictures of other shapes in training
    adapters: bool          # media are heard and seen with LoRA adapters
    turns: bool             # JPEGs are turned as their EXIF entry says
    most_crops: int         # of a picture in the evaluation
    shapes: dict            # of pictures in the evaluation: least and most width and height
    centred: bool           # pictures are padded on both sides, and padding is seen; else behind them, and it is not

    @property
    def patches(self):
        """Along a side of a crop."""
        return self.crop // 14

    @property
    def cells(self):
        """Of 2x2 patches along a side of a crop."""
        return self.crop // 28

    def reduction(self, width, height):
        """How much smaller a picture gets in its crops: pictures of the family that pads on both sides fill all crops across."""
        if not self.centred:
            return 1.0
        ratio = max(width, height) / min(width, height)
        across = 1
        while (across + 1) * math.ceil((across + 1) / ratio) <= self.most_crops:
            across += 1
        return max(width, height) / (self.crop * across)


PHI4MM = Family(
    model_type="phi4mm", hears=True, crop=448, heights=(24, 200), word_heights=(20, 100),
    windows={
        112: ((22, 92), (16, 40)),
        224: ((24, 170), (18, 84)),
        448: ((24, 200), (20, 100)),
    },
    forms=((1, 1),) * 6 + ((2, 1), (1, 2), (2, 1), (1, 2), (2, 2), (2, 2), (3, 2), (2, 3), (3, 3)),
    adapters=True, turns=True, most_crops=36,
    shapes={"448 x 224": (448, 448, 224, 224), "224 x 448": (224, 224, 448, 448), "448 x 298": (448, 448, 298, 298),
            "sides of 640 to 896 px": (640, 896, 640, 896), "sides of 900 to 1344 px": (900, 1344, 900, 1344)},
    centred=False)

PHI3V = Family(
    model_type="phi3_v", hears=False, crop=336, heights=(24, 150), word_heights=(20, 75),
    windows={
        112: ((20, 88), (15, 40)),
        224: ((20, 150), (16, 75)),
        336: ((20, 160), (16, 80)),
    },
    forms=((2, 1), (1, 2), (2, 1), (1, 2), (3, 1), (1, 3)),
    adapters=False, turns=False, most_crops=3,
    shapes={"336 x 190": (336, 336, 190, 190), "190 x 336": (190, 190, 336, 336), "sides of 400 to 700 px": (400, 700, 400, 700),
            "672 x 300": (672, 672, 300, 300), "300 x 672": (300, 300, 672, 672), "1008 x 330": (1008, 1008, 330, 330)},
    centred=True)

FAMILIES = {family.model_type: family for family in (PHI4MM, PHI3V)}


def family_of(folder):
    """The family of a checkpoint."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        found = json.load(file).get("model_type")
    if found not in FAMILIES:
        raise ValueError(f"{folder}/config.json: model_type {found}; expected {' or '.join(FAMILIES)}")
    return FAMILIES[found]

"""The closed world of the nano model: the words, shapes and colours that it knows, and their spoken forms."""

WORDS = ("cat dog sun moon star tree fish bird book door hand ship rain snow fire lamp king rose milk gold").split()
DIGIT_WORDS = "zero one two three four five six seven eight nine".split()
SHAPES = "circle square triangle star".split()
# Typical RGB values; each picture moves them by up to 20 a channel.
COLORS = {
    "red": (215, 30, 30),
    "green": (20, 150, 50),
    "blue": (30, 60, 215),
    "yellow": (240, 215, 20),
    "orange": (245, 130, 20),
    "purple": (140, 40, 170),
    "black": (15, 15, 15),
    "white": (245, 245, 245),
}
OPPOSITES = {
    "hot": "cold", "big": "small", "up": "down", "left": "right", "day": "night", "open": "closed", "fast": "slow",
    "high": "low", "old": "new", "good": "bad", "light": "dark", "long": "short", "wet": "dry", "full": "empty",
    "hard": "soft", "early": "late", "first": "last", "happy": "sad", "yes": "no", "in": "out",
}

"""What tools/nano/evaluate measures: the skills with their goals, re-encoded media, other shapes, and adapters switched off."""
import os

from . import tasks
from .adapters import switch_off
from .engine import Engine
from .reencode import picture_versions, recording_versions
from .scoring import Tally, least_by_chance

# name: (how an example is made, {kinds: goal}). Seen and unseen are fonts, voices or both; text has neither.
SKILLS = {
    **{f"number of {d} digit{'s' * (d > 1)}": (lambda m, kind, d=d: m.about_picture(kind, "number", m.number(d)),
                                              {"seen": goal, "unseen": round(goal - .05, 2)}) for d, goal in ((1, .98), (2, .95), (3, .85))},
    "word, read": (lambda m, kind: m.about_picture(kind, "word", m.word()), {"seen": .85, "unseen": .80}),
    "color": (lambda m, kind: m.about_picture(kind, "color", m.anything()), {"seen": .98}),
    "shape": (lambda m, kind: m.about_picture(kind, "shape", {"kind": "shape"}), {"seen": .98}),
    "count to 3": (lambda m, kind: m.about_picture(kind, "count", {"kind": "shape"}), {"seen": .90}),
    "describe": (lambda m, kind: m.about_picture(kind, "describe", m.anything()), {"seen": None}),
    "spoken digits": (lambda m, kind: m.about_speech(kind, m.digits()), {"seen": .98, "unseen": .95}),
    "spoken word": (lambda m, kind: m.about_speech(kind, m.spoken_word()), {"seen": .95, "unseen": .90}),
    "agree": (lambda m, kind: m.agree(kind), {"seen": .90, "unseen": .85}),
    "larger picture": (lambda m, kind: m.larger(kind), {"seen": .90, "unseen": .85}),
    "sum": (lambda m, kind: m.text(tasks.sum_question), {"-": .98}),
    "opposite": (lambda m, kind: m.text(tasks.opposite_question), {"-": .98}),
    "repeat": (lambda m, kind: m.text(tasks.repeat_question), {"-": .98}),
    "JSON form": (lambda m, kind: m.json(kind), {"seen": .98}),
}

# The rows of the short form: how many examples, and the skills that they go through in turn, with all kinds of each.
NUMBERS = [name for name in SKILLS if name.startswith("number")]
SHORT = {"number": (30, NUMBERS), "word, read": (20, ["word, read"]), "color": (16, ["color"]), "shape": (16, ["shape"]),
         "count to 3": (20, ["count to 3"]), "spoken digits": (40, ["spoken digits"]), "spoken word": (40, ["spoken word"]),
         "agree": (30, ["agree"]), "larger picture": (24, ["larger picture"]), "sum": (40, ["sum"]), "opposite": (40, ["opposite"]),
         "repeat": (40, ["repeat"]), "JSON form": (24, ["JSON form"])}
HEARING = {"spoken digits", "spoken word", "agree"}  # skills of a family that takes recordings
RISK = 1e-4  # that a model as good as measured fails the short form by chance, over all rows

SAME_GOAL = .98
LARGEST = 1344  # side of pictures of other shapes

# Skills that chance does not answer, by the adapter that they need. Pictures with speech take the vision adapter.
ADAPTERS = {"vision": NUMBERS[1:2] + ["word, read", "describe", "agree"], "speech": ["spoken digits", "spoken word"],
            "none": ["sum", "opposite", "repeat"]}
BY_CHANCE = {"agree"}  # half of these is right for nothing
SWITCHED_OFF_AT_MOST = .5  # of the score that was there before


def judging(tally, example, keep=False):
    """What to do with an answer; the files of the example go when they have been read."""
    def done(answer):
        tally.judge(example, answer)
        if not keep:
            for _, path in example.media:
                os.remove(path)
    return done


def having(family, names):
    """Those of `names` that models of a family can do."""
    return [name for name in names if family.hears or name not in HEARING]


def skills(maker, engine, examples):
    """The table of goals, at `examples` of each row."""
    tallies = []
    for name in having(maker.family, SKILLS):
        make, kinds = SKILLS[name]
        for kind, goal in kinds.items():
            maker.row(name, kind)
            tally = Tally(name, kind, goal)
            tallies.append(tally)
            for _ in range(examples):
                example = make(maker, kind)
                engine.ask(example.messages(), judging(tally, example))
    return tallies


def short(maker, engine, examples=None):
    """The rows of the short form, with `examples` of each or as few as in SHORT."""
    tallies = []
    for name in having(maker.family, SHORT):
        few, members = SHORT[name]
        turns = [(SKILLS[member][0], kind) for member in members for kind in SKILLS[member][1]]
        maker.row("short", name)
        tally = Tally(name, "all")
        tallies.append(tally)
        for i in range(examples or few):
            make, kind = turns[i % len(turns)]
            example = make(maker, kind)
            engine.ask(example.messages(), judging(tally, example))
    return tallies


def below(rows, measured):
    """What is wrong with the rows of the short form, given those that were measured once: one line each."""
    found, once = [], {row["skill"]: row for row in measured}
    for row in rows:
        if row["skill"] not in once:
            found.append(f"{row['skill']}: never measured; expected a row of that name")
            continue
        was = once[row["skill"]]
        least = least_by_chance(was["correct"], was["n"], row["n"], RISK / len(rows))
        if row["correct"] < least:
            found.append(f"{row['skill']}: {row['correct']} of {row['n']} right; expected at least {least}, as {was['correct']} of "
                         f"{was['n']} were right when it was measured")
    return found


def same_answers(maker, engine, examples):
    """Share of answers that stay the same when the file comes in another format."""
    tallies = {}

    def ask_all(example, versions):
        (medium, original), = example.media
        answers = []

        def done(what, path):
            def answered(answer):
                answers.append(answer.strip())
                if what:
                    tallies[what].add(answers[0] == answers[-1], example.group)
                os.remove(path)
            return answered
        engine.ask(example.messages(), done(None, original))
        for what, path in versions.items():
            tallies.setdefault(what, Tally(what, "seen", SAME_GOAL))
            example.media = [(medium, path)]
            engine.ask(example.messages(), done(what, path))

    asked = {"number": maker.number, "word": maker.word, "color": maker.anything, "shape": lambda: {"kind": "shape"},
             "count": lambda: {"kind": "shape"}}
    maker.row("same answers", "pictures")
    for i in range(examples + examples // 4):  # every fifth asks for a colour and has no gray version
        skill = list(asked)[i % len(asked)]
        example = maker.about_picture("seen", skill, asked[skill]())
        example.group = skill
        ask_all(example, picture_versions(example.media[0][1], maker.random.choice([3, 6, 8]) if maker.family.turns else None, gray=skill != "color"))
    maker.row("same answers", "recordings")
    for i in range(examples if maker.family.hears else 0):
        example = maker.about_speech("seen", maker.spoken_word() if i % 2 else maker.digits())
        example.group = "word" if i % 2 else "digits"
        ask_all(example, recording_versions(example.media[0][1]))
    return list(tallies.values())


def other_shapes(maker, engine, examples):
    """Reading of pictures that are no squares, or need several crops. `maker` needs textures of LARGEST."""
    tallies = []
    for name, (least_width, most_width, least_height, most_height) in maker.family.shapes.items():
        for skill in ("number", "word"):
            maker.row("other shapes", name, skill)
            tally = Tally(f"{skill}, {name}", "seen")
            tallies.append(tally)
            for _ in range(examples):
                size = maker.random.randint(least_width, most_width), maker.random.randint(least_height, most_height)
                example = maker.about_picture("seen", skill, maker.number() if skill == "number" else maker.word(), size=size)
                engine.ask(example.messages(), judging(tally, example))
    return tallies


def adapters(maker, model, run, examples):
    """Skills with one adapter switched off. `run(model, name)` opens an Engine.

    Returns (rows with the scores before, without vision and without speech; what is wrong, one line each).
    """
    asked = {}
    for needs, names in ADAPTERS.items():
        for name in names:
            kind = next(iter(SKILLS[name][1]))
            maker.row("adapters", name)
            asked[name] = needs, [SKILLS[name][0](maker, kind) for _ in range(examples)]
    models = {"both": model}
    for adapter in ("vision", "speech"):
        models[adapter] = os.path.join(maker.folder, "without-" + adapter)
        switch_off(model, adapter, models[adapter])
    answers = {}
    for off, path in models.items():
        with run(path, "all adapters" if off == "both" else f"without {off}") as engine:
            for name, (_, rows) in asked.items():
                for example in rows:
                    engine.ask(example.messages(), answers.setdefault((off, name), []).append)
    return judge_adapters(asked, answers)


def judge_adapters(asked, answers):
    """asked: {skill: (adapter, examples)}; answers: {(adapter that is off, or "both", skill): texts}."""
    rows, wrong = [], []
    carried = {}  # adapter: right answers to its skills [with it, without it, of how many]
    for name, (needs, examples) in asked.items():
        row = {"skill": name, "adapter": needs, "n": len(examples)}
        for off in ("both", "vision", "speech"):
            tally = Tally(name, off)
            for example, answer in zip(examples, answers[off, name], strict=True):
                tally.judge(example, answer)
            row["correct" if off == "both" else f"correct without {off}"] = tally.correct
            if off not in ("both", needs) and answers[off, name] != answers["both", name]:
                wrong.append(f"{name} does not need the {off} adapter, but its answers change without it")
        rows.append(row)
        if needs != "none" and name not in BY_CHANCE:
            counts = row["correct"], row[f"correct without {needs}"], row["n"]
            carried[needs] = [a + b for a, b in zip(carried.get(needs, (0, 0, 0)), counts)]
    for adapter, (before, after, n) in carried.items():
        if before < n / 2 or after > SWITCHED_OFF_AT_MOST * before:
            wrong.append(f"of {n} questions that need the {adapter} adapter {before} were answered rightly, and {after} without it; expected "
                         "half of all at least, and at most half of that without")
    return rows, wrong


def adapter_table(rows):
    lines = ["", "Adapters switched off: right answers", f"{'':<36}{'needs':<8}{'n':>6}{'all on':>8}{'no vision':>11}{'no speech':>11}"]
    for row in rows:
        lines.append(f"{row['skill']:<36}{row['adapter']:<8}{row['n']:>6}{row['correct']:>8}{row['correct without vision']:>11}"
                     f"{row['correct without speech']:>11}")
    return "\n".join(lines)


def open_engine(program, threads):
    return lambda model, name: Engine(program, model, name, threads)

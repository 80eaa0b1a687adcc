#!/usr/bin/env python3
"""What tools/nano/evaluate stands on: judging, intervals, thresholds, re-encoded media, adapters, the engine's pipe. No model."""
import json
import os
import random
import struct
import sys
import tempfile
import unittest
from fractions import Fraction
from math import comb

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "nano"))

import numpy as np  # noqa: E402
from PIL import Image, ImageOps  # noqa: E402

from nano import examples, reencode, scoring, sections, speech, tasks  # noqa: E402
from nano.adapters import switch_off  # noqa: E402
from nano.engine import Engine, EngineError  # noqa: E402
from nano.tokenizer import learn_merges  # noqa: E402
from nano.vocabulary import WORDS  # noqa: E402


class Vocabulary(unittest.TestCase):
    def test_merges_words_with_their_space_and_never_digits(self):
        merges = learn_merges(["the cat 12", "the cat 12", "the dog 12"], 9)
        made = {"".join(merge) for merge in merges}
        self.assertIn("\u2581the", made)
        self.assertIn("\u2581cat", made)
        self.assertFalse(any(c.isdigit() for token in made for c in token))
        self.assertFalse(any("\u2581" in token[1:] for token in made))


class Scoring(unittest.TestCase):
    def test_judges_text_to_the_letter_but_for_space_around_it(self):
        example = examples.Example("", "the first")
        for answer, right in ((" the first\n", True), ("The first", False), ("the first.", False), ("", False)):
            self.assertEqual(scoring.judge(example, answer), (right, right), answer)

    def test_judges_the_form_of_json_apart_from_its_values(self):
        example = examples.Example("", '{"shape": "star", "count": 2}', form="json")
        for answer, form, values in (('{"count": 2, "shape": "star"}', True, True), ('{"shape": "star", "count": "2"}', True, False),
                                     ('{"shape": "star"}', False, False), ('{"shape": "star", "count": 2, "x": 1}', False, False),
                                     ('{"shape": "star", "count": 2', False, False), ('["shape", "count"]', False, False)):
            self.assertEqual(scoring.judge(example, answer), (form, values), answer)

    def test_wilson_is_where_the_score_test_rejects(self):
        # The ends of the interval are the shares p with |s - p| = z sqrt(p (1 - p) / n).
        for correct, n in ((0, 12), (7, 12), (12, 12), (381, 400)):
            for end, inside in zip(scoring.wilson(correct, n), (correct == 0, correct == n)):
                if not inside:
                    self.assertAlmostEqual(abs(correct / n - end), 1.959964 * (end * (1 - end) / n) ** .5, places=9)
        self.assertEqual(scoring.wilson(0, 12)[0], 0)
        self.assertEqual(scoring.wilson(12, 12)[1], 1)

    def test_threshold_is_the_beta_binomial_quantile(self):
        def rising(x, k):
            out = Fraction(1)
            for i in range(k):
                out *= x + i
            return out
        half = Fraction(1, 2)
        for correct, measured, n, risk in ((390, 400, 24, 1e-5), (400, 400, 30, 1e-5), (200, 400, 20, 1e-3), (3, 400, 20, 1e-5)):
            a, b = correct + half, measured - correct + half
            chance = [comb(n, k) * rising(a, k) * rising(b, n - k) / rising(a + b, n) for k in range(n + 1)]
            self.assertEqual(sum(chance), 1)
            t = scoring.least_by_chance(correct, measured, n, risk)
            self.assertLessEqual(sum(chance[:t]), risk)
            self.assertGreater(sum(chance[:t + 1]), risk)

    def test_a_skill_that_is_lost_fails_the_short_form_and_one_as_measured_does_not(self):
        measured = [{"skill": name, "correct": 380, "n": 400} for name in sections.SHORT]
        rows = [{"skill": name, "correct": round(.95 * n), "n": n} for name, (n, _) in sections.SHORT.items()]
        self.assertEqual(sections.below(rows, measured), [])
        for i, row in enumerate(rows):
            lost = [{**row, "correct": row["n"] // 2} if j == i else row for j, row in enumerate(rows)]
            found = sections.below(lost, measured)
            self.assertEqual(len(found), 1, row)
            self.assertTrue(found[0].startswith(row["skill"] + ": "), found)
            self.assertEqual(len(sections.below([row], measured[:i] + measured[i + 1:])), 1)

    def test_adapters_must_carry_their_skills_and_touch_no_others(self):
        asked = {"word, read": ("vision", [examples.Example("q", "cat")] * 4), "sum": ("none", [examples.Example("q", "3")] * 4)}
        right, lost = ["cat"] * 4, ["?"] * 4
        good = {("both", "word, read"): right, ("vision", "word, read"): lost, ("speech", "word, read"): right,
                ("both", "sum"): ["3"] * 4, ("vision", "sum"): ["3"] * 4, ("speech", "sum"): ["3"] * 4}
        rows, wrong = sections.judge_adapters(asked, good)
        self.assertEqual(wrong, [])
        self.assertEqual(rows[0], {"skill": "word, read", "adapter": "vision", "n": 4, "correct": 4, "correct without vision": 0,
                                   "correct without speech": 4})
        for key, answers in ((("vision", "word, read"), right), (("speech", "word, read"), lost), (("both", "word, read"), lost),
                             (("vision", "sum"), ["3", "3", "3", "4"])):
            self.assertTrue(sections.judge_adapters(asked, {**good, key: answers})[1], key)


class Media(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fonts = examples.choose_fonts(few=True)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        cls.shared = examples.Maker(1, cls.folder, cls.fonts)  # its backgrounds take seconds

    def maker(self):
        self.shared.row(self.id())
        return self.shared

    def opened(self, path):
        with Image.open(path) as file:
            file.load()
            return file

    def test_examples_follow_from_the_seed_and_the_row_alone(self):
        def read(example):
            contents = []
            for _, path in example.media:
                with open(path, "rb") as file:
                    contents.append(file.read())
            return example.question, example.answer, contents
        drawn = []
        for maker, names in ((self.maker(), ["agree"]), (self.maker(), ["agree"]), (self.maker(), ["other"]),
                             (examples.Maker(2, self.folder, self.fonts), ["agree"])):
            maker.row("a row before")
            for _ in drawn:
                maker.agree("seen")
            maker.row(*names)
            drawn.append([read(maker.agree("unseen")) for _ in range(2)])
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])
        self.assertNotEqual(drawn[0], drawn[3])

    def test_every_skill_makes_examples_in_the_form_of_a_request(self):
        maker = self.maker()
        for name, (make, kinds) in sections.SKILLS.items():
            for kind in kinds:
                maker.row(name, kind)
                example = make(maker, kind)
                parts, = (message["content"] for message in example.messages())
                self.assertEqual([part["type"] for part in parts],
                                 [medium + "_url" for medium, _ in example.media] + ["text"] * bool(example.question))
                self.assertTrue(parts and example.answer, name)
                self.assertEqual(example.form == "json", name == "JSON form")
                for medium, path in example.media:
                    if medium == "image":
                        width, height = self.opened(path).size
                        self.assertTrue(224 <= width == height <= 448, (width, height))
                    else:
                        self.assertGreater(len(examples.read_wav(path)), 2000)

    def test_seen_and_unseen_fonts_and_voices_are_apart(self):
        self.assertFalse(set(self.fonts["seen"]) & set(self.fonts["unseen"]))
        self.assertFalse(set(speech.VARIANTS) & set(speech.HELD_VARIANTS))
        maker = self.maker()
        maker.row("agree")
        for kind in ("seen", "unseen"):
            maker.recording(kind, (1,))
            voices = {maker.recordings[kind].speaker.voice() for _ in range(50)}
            held = [v for v in voices if v.split("+")[-1] in speech.HELD_VARIANTS]
            self.assertEqual(len(held), len(voices) if kind == "unseen" else 0)

    def test_few_examples_have_the_mixture_of_many(self):
        maker = self.maker()
        self.assertEqual(sorted(len(maker.digits()) for _ in range(10)), [1, 1, 2, 2, 3, 3, 4, 4, 5, 5])
        kinds = [maker.anything()["kind"] for _ in range(8)]
        self.assertEqual([kinds.count(kind) for kind in ("shape", "number", "word")], [4, 2, 2])

    def test_what_disagrees_differs(self):
        maker = self.maker()
        for labels in [maker.digits() for _ in range(200)] + [("w", w) for w in range(len(WORDS))]:
            other = maker.other(labels)
            self.assertNotEqual(other, labels)
            self.assertEqual(other[0] == "w", labels[0] == "w")

    def test_turned_jpegs_show_upright(self):
        picture = Image.fromarray(np.arange(64 * 48, dtype=np.uint32).reshape(48, 64).astype(np.uint8)).convert("RGB").resize((640, 480))
        for orientation in reencode.STORED:
            path = os.path.join(self.folder, "turned.jpg")
            reencode.turned_jpeg(picture, path, orientation)
            stored = self.opened(path)
            shown = ImageOps.exif_transpose(stored)
            self.assertEqual(stored.getexif()[reencode.ORIENTATION], orientation)
            self.assertEqual(shown.size, picture.size)
            self.assertLess(np.abs(np.asarray(shown, int) - np.asarray(picture, int)).mean(), 4)
            self.assertGreater(np.abs(np.asarray(stored.resize(picture.size), int) - np.asarray(picture, int)).mean(), 20)

    def test_picture_versions_have_the_formats_that_they_are_named_for(self):
        original = self.maker().about_picture("seen", "shape", {"kind": "shape"}).media[0][1]
        versions = reencode.picture_versions(original, 6, gray=True)
        found = {what: (image.format, image.mode) for what, image in ((w, self.opened(p)) for w, p in versions.items())}
        self.assertEqual(found, {"JPEG turned by EXIF": ("JPEG", "RGB"), "palette PNG": ("PNG", "P"), "gray PNG": ("PNG", "L"),
                                 "JPEG of quality 90": ("JPEG", "RGB")})
        self.assertNotIn("gray PNG", reencode.picture_versions(original, 3, gray=False))

    def test_json_is_asked_of_every_skill_that_has_it(self):
        r = random.Random(3)
        rows = [tasks.sum_question(r) for _ in range(50)]
        maker = self.maker()
        for example in (maker.text(tasks.sum_question, json=True) for _ in range(5)):
            self.assertEqual(set(json.loads(example.answer)), {"sum"})
        self.assertTrue(any(answer.startswith("{") for _, _, answer in rows))
        for example in (maker.text(tasks.sum_question) for _ in range(50)):
            self.assertFalse(example.answer.startswith("{"))


class Adapters(unittest.TestCase):
    def test_switching_off_zeroes_the_b_matrices_of_one_adapter_and_nothing_else(self):
        names = [f"model.layers.0.mlp.down_proj.{part}" for part in
                 ("base_layer.weight", "lora_A.vision.weight", "lora_B.speech.weight", "lora_B.vision.weight")]
        with tempfile.TemporaryDirectory() as folder:
            model, copy = os.path.join(folder, "model"), os.path.join(folder, "copy")
            os.makedirs(model)
            header = {name: {"dtype": "BF16", "shape": [4], "data_offsets": [8 * i, 8 * i + 8]} for i, name in enumerate(names)}
            text = json.dumps({"__metadata__": {"format": "pt"}, **header}).encode()
            weights = struct.pack("<Q", len(text)) + text + bytes(range(1, 33))
            for name, data in (("model.safetensors", weights), ("config.json", b"{}")):
                with open(os.path.join(model, name), "wb") as file:
                    file.write(data)
            self.assertEqual(switch_off(model, "vision", copy), 1)
            with open(os.path.join(copy, "model.safetensors"), "rb") as file:
                self.assertEqual(file.read(), weights[:-8] + bytes(8))
            self.assertEqual(sorted(os.listdir(copy)), ["config.json", "model.safetensors"])
            with self.assertRaises(ValueError):
                switch_off(model, "touch", os.path.join(folder, "other"))


class Pipe(unittest.TestCase):
    """A program in omniphi's place."""

    def run_with(self, body, requests):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "program")
            with open(program, "w", encoding="utf-8") as file:
                file.write(f"#!{sys.executable}\nimport json, sys\n{body}\n")
            os.chmod(program, 0o755)
            answers = []
            with Engine(program, "model", "test") as engine:
                for request in requests:
                    engine.ask(request, answers.append)
            return answers

    def test_answers_come_in_order(self):
        body = "for line in sys.stdin:\n    print(json.dumps({'text': json.loads(line)['messages']}), flush=True)"
        requests = [str(i) for i in range(500)]
        self.assertEqual(self.run_with(body, requests), requests)

    def test_what_goes_wrong_is_said(self):
        for body, named in (("sys.stdin.readline()\nprint(json.dumps({'error': {'where': 'a.png'}}), flush=True)\nsys.stdin.read()", "a.png"),
                            ("sys.stdin.read()\nprint(json.dumps({'text': ''}))", "missing"),
                            ("sys.exit('no such model')", "no such model"),
                            ("sys.stdin.read()\nprint('nonsense')", "JSON")):
            with self.assertRaisesRegex(EngineError, named):
                self.run_with(body, ["a"] * 3)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""Trains the nano models, stage by stage; a stage that stopped goes on where its last checkpoint was.

  train.py tokenizer          what the other stages need, besides the clips of nano/speech.py
  train.py text               the base decoder, on text alone
  train.py eyes               the vision tower, on labels of patches
  train.py audio              the audio tower, then its projector and the speech LoRA on the frozen base
  train.py vision             projector, vision LoRA and tower on the frozen base
  train.py both               pictures with recordings and pairs of pictures in the mix
  train.py joint              --family phi3_v, in place of the last three: all of the model on pictures and text
  train.py export             the model from the last stage

Stages keep their state in --work; README.md has the order, times and what each reached.
"""
import argparse
import os
import random
import sys
import time

import numpy as np
import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nano import batches, phi3v, tasks
from nano.forward import answer_logits, exact_answers, media_of, picture_features, speech_features
from nano.export import read, write
from nano.family import FAMILIES, PHI3V, PHI4MM
from nano.model import Mel, Nano, Sizes
from nano.pictures import find_fonts
from nano.run import Run, rank
from nano.tokenizer import build, build_phi3v, load_tokenizer
from nano.transplant import transplant


def language_loss(model, batch, adapter, media=()):
    logits, wanted, _ = answer_logits(model, batch, adapter, media)
    return F.cross_entropy(logits.float(), wanted)


def bf16():
    return torch.autocast("cpu", torch.bfloat16)


def freeze(*modules):
    for m in modules:
        for p in m.parameters():
            p.requires_grad_(False)


def only_adapter(model, adapter):
    for name, p in model.decoder.named_parameters():
        p.requires_grad_(f".a.{adapter}" in name or f".b.{adapter}" in name)


def load(model, a, *names):
    """Takes over parts of other stages' models: (stage, prefixes...)."""
    for stage, *prefixes in names:
        state = torch.load(os.path.join(a.work, stage + ".pt"))["model"]
        own = model.state_dict()
        own.update({k: v for k, v in state.items() if k.startswith(tuple(prefixes))})
        model.load_state_dict(own)


def new_model(a, tokenizer):
    torch.manual_seed(a.seed)
    return Nano(phi3v.sizes(tokenizer.vocab_size) if tokenizer.family is PHI3V else Sizes(vocab=tokenizer.vocab_size))


def fixed(make, seed, n):
    stream = make(seed)
    return [next(stream) for _ in range(n)]


def text_evaluation(model, tokenizer, n=100):
    """Per skill on fresh questions, first turn only."""
    r = random.Random(77)
    out = {}
    for f in tasks.TEXT_FUNCTIONS:
        rows = [[tasks.ask_text(r, f, tokenizer.family.hears)] for _ in range(n)]
        batch = batches.pack_text(tokenizer, rows, random.Random(1), media=False)
        with bf16():
            ok = exact_answers(model, batch, None)
        out[rows[0][0][0]] = round(float(np.mean(ok)), 3)
    return out


def stage_text(a, tokenizer):
    model = new_model(a, tokenizer)

    def loss(batch):
        with bf16():
            l = language_loss(model, batch, None)
        return l, {"lm": l.item()}

    run = Run(a, "text", model, [(a.rate or 4e-3, [model.decoder])], batches.text_batches(tokenizer, 96), 5000, loss,
              lambda: text_evaluation(model, tokenizer), hold=.4)
    run.go()


def stage_eyes(a, tokenizer, fonts):
    model = new_model(a, tokenizer)
    full = tokenizer.family.crop
    phases = [  # steps, plan
        (1500, [(1, 112, 64, (.55, .3, .15), False)]),
        (6000, [(.25, 112, 64, (.55, .3, .15), False), (.35, 224, 24, (.5, .35, .15), False), (.4, full, 24, (.5, .35, .15), False)]),
    ]
    held = {w: fixed(batches.picture_batches(tokenizer, fonts[w], [(1, full, 32, (.5, .35, .15), False)], 1, False), 999, 3) for w in fonts}

    def loss(batch):
        with bf16():
            f = picture_features(model, batch["picture"])
            l, _ = model.patch_labels(f, batch["picture"]["labels"])
        return l, {"patch": l.item()}

    def evaluate():
        out = {}
        for w, some in held.items():
            good, letter, order = {}, [], []
            for batch in some:
                p = batch["picture"]
                with bf16():
                    _, logits = model.patch_labels(picture_features(model, p), p["labels"])
                t = p["labels"].long()
                right = logits[0].argmax(-1) == t[:, 0]
                for name, lo, hi in (("digit", 1, 10), ("word", 11, 30), ("shape", 31, 34)):
                    m = (t[:, 0] >= lo) & (t[:, 0] <= hi)
                    good.setdefault(name, []).append(right[m])
                m = t[:, 1] > 0
                letter.append((logits[1].argmax(-1) == t[:, 1])[m])
                m = (t[:, 2] > 0) & (t[:, 0] < 11)
                order.append((logits[2].argmax(-1) == t[:, 2])[m])
            out[w] = {k: round(torch.cat(v).float().mean().item(), 3) for k, v in {**good, "letter": letter, "order": order}.items()}
        return out

    for i, (steps, plan) in enumerate(phases):
        a_name = f"eyes{i}"
        if i:
            if not os.path.exists(os.path.join(a.work, a_name + ".pt")):
                load(model, a, (f"eyes{i - 1}", "vision", "patch_labels"))
        run = Run(a, a_name, model, [(a.rate or (2e-3 if i == 0 else 1.5e-3), [model.vision, model.patch_labels])],
                  batches.picture_batches(tokenizer, fonts["seen"], plan, 2.5, False), steps, loss, evaluate,
                  hold=1.0 if i == 0 else .7, floor=1.0 if i == 0 else .3)
        run.go()


def audio_evaluation(model, tokenizer, bank, mel, with_text):
    """Exact match on single clips without padding."""
    out = {}
    for which in ("seen", "unseen"):
        stream = batches.audio_batches(tokenizer, bank[which], 1, 40, with_text)(999)
        good = {"ctc": [], "digits": [], "word": []}
        for _ in range(120):
            batch = next(stream)
            with bf16():
                media, features = media_of(model, batch, "speech", mel)
                f = features["audio"]
                best = model.frame_labels.ctc(f).argmax(-1)[0].tolist()
                heard = [c for j, c in enumerate(best) if c and (j == 0 or best[j - 1] != c)]
                wanted = batch["audio"]["ctc"].tolist()
                good["ctc"].append(heard == wanted)
                if with_text:
                    ok = exact_answers(model, batch, "speech", media)
                    good["word" if wanted[0] > 10 else "digits"].append(ok[0])
        out[which] = {k: round(float(np.mean(v)), 3) for k, v in good.items() if v}
    return out


def stage_audio(a, tokenizer, bank):
    model, mel = new_model(a, tokenizer), Mel()
    some = next(batches.audio_batches(tokenizer, bank["train"], 64, 1, False)(1))
    m = mel(some["audio"]["samples"])
    model.audio.mean.copy_(m.mean((0, 1)))
    model.audio.invstd.copy_(1 / m.std((0, 1)).clamp(min=.5))

    def aux(batch, f):
        audio = batch["audio"]
        logits = model.frame_labels.ctc(f).float().log_softmax(-1)
        lengths = torch.full((len(f),), f.shape[1])
        ctc = F.ctc_loss(logits.transpose(0, 1), audio["ctc"], lengths, audio["ctc_lengths"], zero_infinity=True)
        frame = F.cross_entropy(model.frame_labels.frame(f).float().flatten(0, 1), audio["frame_targets"][:, :f.shape[1]].flatten(), ignore_index=-100)
        return ctc, frame

    def tower_loss(batch):
        with bf16():
            f = speech_features(model, batch["audio"], mel)
            ctc, frame = aux(batch, f)
        l = .5 * ctc + 2 * frame
        return l, {"ctc": ctc.item(), "frame": frame.item()}

    run = Run(a, "audio0", model, [(a.rate or 2e-3, [model.audio, model.frame_labels])], batches.audio_batches(tokenizer, bank["train"], 24, 10, False, True), 1500,
              tower_loss, lambda: audio_evaluation(model, tokenizer, bank, mel, False), hold=1.0, floor=1.0)
    run.go()

    fresh = not os.path.exists(os.path.join(a.work, "audio1.pt"))
    if fresh:
        load(model, a, ("text", "decoder"))
    only_adapter(model, "speech")

    def loss(batch):
        with bf16():
            media, features = media_of(model, batch, "speech", mel)
            ctc, frame = aux(batch, features["audio"])
            lm = language_loss(model, batch, "speech", media)
        return lm + .5 * ctc + frame, {"lm": lm.item(), "ctc": ctc.item(), "frame": frame.item()}

    run = Run(a, "audio1", model, [(a.rate or 2e-3, [model.audio, model.frame_labels, model.ears["speech"], model.decoder])],
              batches.audio_batches(tokenizer, bank["train"], 24, vary=True), 2000, loss, lambda: audio_evaluation(model, tokenizer, bank, mel, True), hold=.4)
    run.go()


def vision_evaluation(model, tokenizer, fonts, n=32):
    out = {}
    adapter = "vision" if model.s.ranks else None
    for which in fonts:
        kinds = {}
        source = batches.Pictures(fonts[which], 4242, tokenizer.family.crop, 16, 1, (.45, .3, .25), tokenizer.family)
        r = random.Random(4242)
        for _ in range(n // 16 * 2):
            views, facts = source.next(True)
            pictures = batches.picture_tensors(views)
            with bf16():
                f = picture_features(model, pictures)
            all_questions = [tasks.picture_questions(r, x, 0) for x in facts]
            for q in range(3):
                rows, pick = [], []
                for i, questions in enumerate(all_questions):
                    if q < len(questions):
                        rows.append([questions[q]])
                        pick.append(i)
                if not rows:
                    continue
                batch = batches.pack_text(tokenizer, rows, random.Random(1))
                batch["picture"] = {**pictures, "order": pictures["order"][pick], "token_weights": pictures["token_weights"][pick]}
                with bf16():
                    media, _ = media_of(model, batch, adapter, features={"picture": f[pick]})
                    ok = exact_answers(model, batch, adapter, media)
                for row, good, i in zip(rows, ok, pick):
                    key = row[0][0] + (str(len(facts[i]["text"])) if row[0][0] == "number" else "")
                    kinds.setdefault(key, []).append(good)
        out[which] = {k: round(float(np.mean(v)), 3) for k, v in sorted(kinds.items())}
    return out


def stage_vision(a, tokenizer, fonts):
    model = new_model(a, tokenizer)
    if not os.path.exists(os.path.join(a.work, "vision.pt")):
        load(model, a, ("text", "decoder"), ("eyes1", "vision", "patch_labels"))
    only_adapter(model, "vision")

    def loss(batch):
        with bf16():
            media, features = media_of(model, batch, "vision")
            patch, _ = model.patch_labels(features["picture"], batch["picture"]["labels"])
            lm = language_loss(model, batch, "vision", media)
        return lm + .5 * patch, {"lm": lm.item(), "patch": patch.item()}

    mix = (.5, .3, .2)
    plan = [(.15, 112, 64, mix, False), (.15, 224, 24, mix, False), (.7, 448, 24, mix, False)]
    run = Run(a, "vision", model, [(a.rate or 1.2e-3, [model.vision, model.patch_labels]), (a.rate or 2e-3, [model.eyes, model.decoder])],
              batches.picture_batches(tokenizer, fonts["seen"], plan), 8000, loss, lambda: vision_evaluation(model, tokenizer, fonts), hold=.6, floor=.2)
    run.go()


def stage_joint(a, tokenizer, fonts):
    """All of a model without adapters: pictures of every form, pairs of them, and text."""
    model = new_model(a, tokenizer)
    seen, full, mix = fonts["seen"], tokenizer.family.crop, (.5, .32, .18)
    if not os.path.exists(os.path.join(a.work, "joint.pt")):
        if a.start:
            transplant(model, tokenizer, a.start)
        else:
            load(model, a, ("text", "decoder"), ("eyes1", "vision", "patch_labels"))

    def loss(batch):
        with bf16():
            if "picture" not in batch:
                lm = language_loss(model, batch, None)
                return lm, {"text": lm.item()}
            media, features = media_of(model, batch, None)
            lm = language_loss(model, batch, None, media)
            # A tower that was trained before waits until its labels are known, too.
            seen_by_labels = features["picture"].detach() if a.start and run.step < 200 else features["picture"]
            patch, _ = model.patch_labels(seen_by_labels, batch["picture"]["labels"])
        return lm + .4 * patch, {"pair" if "pictures" in batch else "lm": lm.item(), "patch": patch.item()}

    make = batches.mixed_batches([
        (.44, batches.picture_batches(tokenizer, seen, [(.12, 112, 64, mix, False), (.14, 224, 24, mix, False), (.74, full, 24, mix, False)])),
        (.24, batches.pair_batches(tokenizer, seen, 12)),
        (.18, batches.text_batches(tokenizer, 64)),
        (.1, batches.crop_batches(tokenizer, seen, 1000)),
        (.04, batches.picture_batches(tokenizer, seen, [(1, full, 12, mix, True)]))])
    held = {w: {"pair": fixed(batches.pair_batches(tokenizer, fonts[w], 8, True), 999, 3),
                "crops": fixed(batches.crop_batches(tokenizer, fonts[w]), 999, 3)} for w in fonts}

    def evaluate():
        out = {"text": text_evaluation(model, tokenizer, 40), **vision_evaluation(model, tokenizer, fonts, 48)}
        for w in held:
            for name, some in held[w].items():
                good = []
                for batch in some:
                    with bf16():
                        good += exact_answers(model, batch, None, media_of(model, batch, None)[0])
                out[w][name] = round(float(np.mean(good)), 3)
        return out

    rate = a.rate or (1e-3 if a.start else 1.5e-3)
    run = Run(a, "joint", model, [(rate * (.5 if a.start else .8), [model.vision]), (rate, [model.patch_labels, model.eyes, model.decoder])],
              make, 2200 if a.start else 8000, loss, evaluate, hold=.3)
    run.go()


def stage_both(a, tokenizer, fonts, bank):
    model, mel = new_model(a, tokenizer), Mel()
    if a.start and not os.path.exists(os.path.join(a.work, "both.pt")):
        read(model, a.start)
    elif not os.path.exists(os.path.join(a.work, "both.pt")):
        load(model, a, ("audio1", ""), ("vision", "vision", "eyes", "patch_labels"))
        vision = torch.load(os.path.join(a.work, "vision.pt"))["model"]
        own = model.state_dict()
        own.update({k: v for k, v in vision.items() if ".a.vision" in k or ".b.vision" in k})
        model.load_state_dict(own)
        model.ears["vision"].load_state_dict(model.ears["speech"].state_dict())
    only_adapter(model, "vision")
    freeze(model.audio, model.ears["speech"], model.frame_labels)

    def loss(batch):
        with bf16():
            features = {}
            if "audio" in batch:
                with torch.no_grad():
                    features["audio"] = speech_features(model, batch["audio"], mel)
            # What compares media trains the decoder alone: the towers learn from the other batches, at half the cost.
            compares = "audio" in batch or "pictures" in batch
            if compares:
                with torch.no_grad():
                    features["picture"] = picture_features(model, batch["picture"])
            media, features = media_of(model, batch, "vision", mel, features)
            lm = language_loss(model, batch, "vision", media)
            if compares:
                return lm, {"agree" if "audio" in batch else "pair": lm.item()}
            # A tower that was trained before waits until its labels are known.
            shown = features["picture"].detach() if a.start and run.step < 120 else features["picture"]
            patch, _ = model.patch_labels(shown, batch["picture"]["labels"])
        return lm + .4 * patch, {"lm": lm.item(), "patch": patch.item()}

    mix = (.5, .3, .2)
    seen = fonts["seen"]
    make = batches.mixed_batches([
        (.21, batches.picture_batches(tokenizer, seen, [(1, 448, 24, mix, False)])),
        (.36, batches.agree_batches(tokenizer, seen, bank["train"], 20, vary=True)),
        (.31, batches.pair_batches(tokenizer, seen, 12)),
        (.08, batches.crop_batches(tokenizer, seen)),
        (.04, batches.picture_batches(tokenizer, seen, [(1, 448, 6, mix, True)]))])
    held = {w: {"agree": fixed(batches.agree_batches(tokenizer, fonts[w], bank[w], 16, True), 999, 2),
                "pair": fixed(batches.pair_batches(tokenizer, fonts[w], 8, True), 999, 2),
                "crops": fixed(batches.crop_batches(tokenizer, fonts[w]), 999, 3)} for w in fonts} if rank() == 0 else {}

    def evaluate():
        out = vision_evaluation(model, tokenizer, fonts)
        for w in held:
            for name, some in held[w].items():
                good = []
                for batch in some:
                    with bf16():
                        media, _ = media_of(model, batch, "vision", mel)
                        good += exact_answers(model, batch, "vision", media)
                out[w][name] = round(float(np.mean(good)), 3)
        return out

    run = Run(a, "both", model, [(a.rate or 8e-4, [model.vision, model.patch_labels]), (a.rate or 1.5e-3, [model.eyes, model.decoder, model.ears["vision"]])],
              make, 2150, loss, evaluate, hold=.3)
    run.go()


def export(a, tokenizer):
    """From the furthest stage that is there, or the mean of some of its states."""
    model = new_model(a, tokenizer)
    stage = next(s for s in ("both", "joint", "vision", "audio1", "text") if os.path.exists(os.path.join(a.work, s + ".pt")))
    states = [torch.load(path)["model"] for path in a.average or [os.path.join(a.work, stage + ".pt")]]
    model.load_state_dict({name: torch.stack([state[name].double() for state in states]).mean(0).float() for name in states[0]})
    out = a.out or ("models/nano-phi3v" if tokenizer.family is PHI3V else "models/nano")
    write(model, tokenizer, os.path.join(a.work, "tokenizer"), out)
    print(f"{out} from stage {stage}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("stage", choices=["tokenizer", "text", "eyes", "audio", "vision", "both", "joint", "export"])
    p.add_argument("--family", default=PHI4MM.model_type, choices=sorted(FAMILIES), help="default: " + PHI4MM.model_type)
    p.add_argument("--work", default="build-nano", help="folder for checkpoints, the log and the clips")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--steps", type=int, default=0, help="other length of the stage")
    p.add_argument("--rate", type=float, default=0, help="other learning rate")
    p.add_argument("--every", type=float, default=120, help="seconds between checkpoints")
    p.add_argument("--fonts", default="/usr/share/fonts")
    p.add_argument("--ranks", help="o200k_base.tiktoken (tokenizer; phi4mm)")
    p.add_argument("--release-tokenizer", help="the release's tokenizer.json (tokenizer; phi4mm)")
    p.add_argument("--template", help="a folder with a tokenizer in the family's form (tokenizer)")
    p.add_argument("--processes", type=int, default=1, help="processes that share a stage's batches")
    p.add_argument("--start", help="both and joint: begin with the weights of this checkpoint, such as models/nano, instead of the stages before")
    p.add_argument("--average", nargs="+", metavar="FILE", help="export: the mean of these states of a stage, kept on the way, instead of the last")
    p.add_argument("--out", help="folder of the checkpoint (export; default: models/nano or models/nano-phi3v)")
    a = p.parse_args()
    if a.processes > 1:
        mp.spawn(one_of, (a,), a.processes)
    else:
        run_stage(a)


def one_of(index, a):
    """One process of several."""
    store = os.path.join(a.work, "rendezvous")
    if index == 0 and os.path.exists(store):
        os.remove(store)
    time.sleep(2 * index)
    dist.init_process_group("gloo", init_method="file://" + os.path.abspath(store), rank=index, world_size=a.processes)
    run_stage(a)


def run_stage(a):
    torch.set_num_threads(1)
    os.makedirs(a.work, exist_ok=True)
    folder = os.path.join(a.work, "tokenizer")
    family = FAMILIES[a.family]
    if a.stage == "tokenizer":
        made = build_phi3v(a.template, folder) if family is PHI3V else build(a.ranks, a.release_tokenizer, a.template, folder)
        print(made, "tokens")
        return
    tokenizer = load_tokenizer(family, folder)
    bank = lambda: np.load(os.path.join(a.work, "bank.npy"), allow_pickle=True)[0]
    if a.stage == "text":
        stage_text(a, tokenizer)
    elif a.stage == "eyes":
        stage_eyes(a, tokenizer, find_fonts(a.fonts))
    elif a.stage == "audio":
        stage_audio(a, tokenizer, bank())
    elif a.stage == "vision":
        stage_vision(a, tokenizer, find_fonts(a.fonts))
    elif a.stage == "both":
        stage_both(a, tokenizer, find_fonts(a.fonts), bank())
    elif a.stage == "joint":
        stage_joint(a, tokenizer, find_fonts(a.fonts))
    elif a.stage == "export":
        export(a, tokenizer)


if __name__ == "__main__":
    main()

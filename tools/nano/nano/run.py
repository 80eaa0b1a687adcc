"""One stage of training: optimizer, schedule, log, checkpoints, and sharing gradients between processes."""
import json
import os
import time

import numpy as np
import torch
import torch.distributed as dist

from . import batches


class Optimizer:
    """Muon for the matrices of the blocks, AdamW for everything else; one learning rate a group."""

    def __init__(self, groups):
        self.parts = []
        for rate, modules in groups:
            named = [(name, p) for m in modules for name, p in m.named_parameters() if p.requires_grad]
            big = [p for name, p in named if p.ndim == 2 and ("blocks." in name or "layers." in name)]
            rest = [p for name, p in named if not any(p is q for q in big)]
            if big:
                self.parts.append((rate, torch.optim.Muon(big, weight_decay=.02, momentum=.95, adjust_lr_fn="match_rms_adamw")))
            if rest:
                self.parts.append((rate, torch.optim.AdamW(rest, betas=(.9, .98), weight_decay=.02)))
        self.parameters = [p for _, o in self.parts for g in o.param_groups for p in g["params"]]

    def step(self, scale):
        torch.nn.utils.clip_grad_norm_(self.parameters, 1.0)
        for rate, optimizer in self.parts:
            for group in optimizer.param_groups:
                group["lr"] = rate * scale
            optimizer.step()
        for p in self.parameters:
            p.grad = None


def distributed():
    return dist.is_available() and dist.is_initialized()


def rank():
    return dist.get_rank() if distributed() else 0


def share_gradients(parameters):
    """Averages the gradients of the processes (--processes)."""
    if not distributed():
        return
    flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    at = 0
    for p in parameters:
        p.grad = flat[at:at + p.numel()].view_as(p)
        at += p.numel()


class Run:
    """One stage: batches, schedule, log, checkpoints."""

    def __init__(self, a, name, model, groups, make, steps, loss, evaluate, warmup=100, hold=.5, floor=.02):
        self.a, self.name, self.model, self.steps, self.loss, self.evaluate = a, name, model, a.steps or steps, loss, evaluate
        self.warmup, self.hold, self.floor = warmup, hold, floor
        self.optimizer = Optimizer(groups)
        self.path = os.path.join(a.work, name + ".pt")
        self.step, self.spent = 0, 0.0
        if os.path.exists(self.path):
            state = torch.load(self.path)
            self.step, self.spent = state["step"], state["spent"]
            model.load_state_dict(state["model"])
            if state.get("optimizer"):
                for (_, o), s in zip(self.optimizer.parts, state["optimizer"]):
                    o.load_state_dict(s)
        self.make = make

    def log(self, *parts):
        line = f"{self.name} {self.step} {self.spent / 60:.1f}m " + " ".join(str(p) for p in parts)
        print(line, flush=True)
        with open(os.path.join(self.a.work, "log.txt"), "a") as file:
            file.write(line + "\n")

    def save(self):
        state = {"step": self.step, "spent": self.spent, "model": self.model.state_dict(),
                 "optimizer": [o.state_dict() for _, o in self.optimizer.parts]}
        torch.save(state, self.path + ".new")
        os.replace(self.path + ".new", self.path)

    def scale(self):
        f = self.step / self.steps
        down = 1 if f < self.hold else self.floor + (1 - self.floor) * (1 - f) / (1 - self.hold)
        return min(1, (self.step + 1) / self.warmup) * down

    def go(self):
        if self.step >= self.steps:
            return
        torch.manual_seed(self.a.seed + self.step)
        stream = batches.Stream(self.make, self.a.seed + self.step + 500 * rank())
        loader = iter(torch.utils.data.DataLoader(stream, batch_size=None, num_workers=1, prefetch_factor=6, multiprocessing_context="fork"))
        losses, examples, last, since = [], 0, time.time(), time.time()
        while self.step < self.steps:
            batch = next(loader)
            loss, parts = self.loss(batch)
            if not torch.isfinite(loss):
                raise SystemExit(f"{self.name}: the loss is {loss.item()} at step {self.step}")
            loss.backward()
            share_gradients(self.optimizer.parameters)
            self.optimizer.step(self.scale())
            self.step += 1
            losses.append(parts)
            examples += batch["examples"] if "examples" in batch else 0
            due = torch.tensor(float(time.time() - last > self.a.every))
            if distributed():
                dist.broadcast(due, 0)
            if (due or self.step == self.steps) and rank():
                losses, last = [], time.time()
            elif due or self.step == self.steps:
                self.spent += time.time() - since
                rate = len(losses) / (time.time() - last)
                means = {k: round(float(np.mean([l[k] for l in losses[-200:] if k in l])), 3) for k in sorted({k for l in losses for k in l})}
                self.model.eval()
                with torch.no_grad():
                    self.log(f"{rate:.2f} steps/s", json.dumps(means), json.dumps(self.evaluate()))
                self.model.train()
                self.save()
                losses, last, since = [], time.time(), time.time()

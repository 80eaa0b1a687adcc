"""How answers are judged, and what a share of right answers says: intervals, and the least that comes by chance."""
import json
import math


def parsed(text):
    """The object that `text` is in JSON, or None."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def judge(example, answer):
    """(right, all values right). In JSON the form counts: an object with exactly these keys; the second says whether the values
    are right as well. Elsewhere both say whether the text, trimmed, is the expected one."""
    if example.form == "json":
        found, wanted = parsed(answer), json.loads(example.answer)
        right = found is not None and set(found) == set(wanted)
        return right, right and found == wanted
    right = answer.strip() == example.answer
    return right, right


def wilson(correct, n, z=1.959964):
    """The 95 % interval of a share by Wilson's formula (the score interval)."""
    if n == 0:
        return 0.0, 1.0
    share, spread = correct / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z / (1 + spread) * math.sqrt(share * (1 - share) / n + spread / (4 * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def log_choose(n, k):
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def log_beta(a, b):
    return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)


def least_by_chance(correct, measured, n, risk):
    """The largest count t such that a model that once answered `correct` of `measured` rightly answers fewer than t of `n` rightly
    with a probability of at most `risk`.

    The share behind `correct` is not known, only measured. So this is not the binomial distribution but the beta-binomial that
    follows from it with Jeffreys' prior: just as exact, and wider by the uncertainty of the measurement.
    """
    a, b = correct + .5, measured - correct + .5
    below = 0.0
    for t in range(n):
        below += math.exp(log_choose(n, t) + log_beta(t + a, n - t + b) - log_beta(a, b))
        if below > risk:
            return t
    return n


class Tally:
    """Right answers of a row of a table, in all and by group."""

    def __init__(self, skill, kind, goal=None):
        self.skill, self.kind, self.goal = skill, kind, goal
        self.n = self.correct = 0
        self.values = None
        self.wrong = []
        self.groups = {}

    def add(self, right, group=""):
        self.n += 1
        self.correct += bool(right)
        if group:
            count = self.groups.setdefault(group, {"n": 0, "correct": 0})
            count["n"] += 1
            count["correct"] += bool(right)

    def judge(self, example, answer):
        right, values = judge(example, answer)
        if not values:
            self.wrong.append({"question": example.question, "expected": example.answer, "answer": answer})
        self.add(right, example.group)
        if example.form == "json":
            self.values = (self.values or 0) + bool(values)

    def row(self):
        """For the table and its JSON."""
        low, high = wilson(self.correct, self.n)
        score = self.correct / self.n if self.n else 0.0
        out = {"skill": self.skill, "kind": self.kind, "n": self.n, "correct": self.correct, "score": round(score, 4),
               "low": round(low, 4), "high": round(high, 4)}
        if self.goal is not None:
            out.update(goal=self.goal, met=score >= self.goal - 1e-9)
        if self.values is not None:
            out["values"] = round(self.values / self.n, 4)
        if len(self.groups) > 1:
            out["groups"] = dict(sorted(self.groups.items()))
        return out


def line(name, kind, n, correct):
    low, high = wilson(correct, n)
    return f"{name:<36}{kind:<8}{n:>6}{correct / max(n, 1):>8.3f}   {low:.3f} to {high:.3f}"


def table(title, rows):
    """The rows as text, groups below each in smaller steps."""
    lines = ["", title, f"{'':<36}{'kinds':<8}{'n':>6}{'score':>8}   {'95 % interval':<14}   goal  met"]
    for row in rows:
        goal = f"{row['goal']:>7.2f}  {'yes' if row['met'] else 'NO'}" if "goal" in row else f"{'-':>7}  -"
        values = f"   values right: {row['values']:.3f}" if "values" in row else ""
        lines.append(line(row["skill"], row["kind"], row["n"], row["correct"]) + goal + values)
        lines += [line("    " + name, "", count["n"], count["correct"]) for name, count in row.get("groups", {}).items()]
    return "\n".join(lines)

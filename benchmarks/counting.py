"""Counting what rules capture: the recursion of the paper against glassleak, and large lists.

First, growing random lists counted both ways, until the recursion takes longer than --patience.
Then lists of many shapes, counted by glassleak alone.  Fails when 100 attributes x 100 rules of
two conditions, or 60 x 40 of three, are not counted exactly within a second on average.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
import pandas as pd

from glassleak.counting import Counter, count_rules, regions_of
from glassleak.models import Condition, Exact, Rule, RuleList
from glassleak.schema import Ordinal, Schema

NAME = "counting"
HELP = "profiles that rules capture: ours against the recursion of the paper"

# Name, attributes, levels each, rules, conditions per rule, how attributes are linked.
SHAPES = (
    ("100 x 100, width 2", 100, 2, 100, 2, "random"),
    ("60 x 40, width 3", 60, 2, 40, 3, "random"),
    ("dense core, 25 x 150", 25, 2, 150, 3, "random"),
    ("wide rules, 40 x 40", 40, 2, 40, 10, "random"),
    ("wide rules, 100 x 60", 100, 2, 60, 10, "random"),
    ("many values, 100 x 100", 100, 20, 100, 2, "random"),
    ("chain of 300", 300, 2, 300, 2, "chain"),
    ("wide chain of 100", 100, 2, 100, 5, "chain"),
    ("hard: 100 x 100, width 3", 100, 2, 100, 3, "random"),
)
PROMISED = 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seeds", type=int, default=3, help="per shape (default: %(default)s)")
    parser.add_argument("--patience", type=float, default=20,
                        help="seconds for the recursion (default: %(default)g)")  # fmt: skip
    parser.add_argument("--budget", type=float, default=20,
                        help="seconds for glassleak (default: %(default)g)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; 1 when a promise is broken or the two ways disagree."""
    agree = _growing(arguments.patience)
    rows = []
    for shape in SHAPES:
        found = [_measure(shape, seed, arguments.budget) for seed in range(arguments.seeds)]
        rows.append({
            "shape": shape[0],
            "exact": f"{sum(f['exact'] for f in found)}/{len(found)}",
            "seconds": round(float(np.mean([f["seconds"] for f in found])), 3),
            "parts solved": int(np.mean([f["parts"] for f in found])),
            "widest gap in bits": round(max(f["gap"] for f in found), 2),
        })  # fmt: skip
        print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    print(table.to_string(index=False))
    promised = table.head(PROMISED)
    whole = f"{arguments.seeds}/{arguments.seeds}"
    kept = bool((promised["seconds"] <= 1).all() and (promised["exact"] == whole).all())
    return int(not (agree and kept))


def _growing(patience: float) -> bool:
    """Both ways on the same lists, until the recursion runs out of patience."""
    agree, rows = True, []
    for n_rules in (5, 10, 15, 20, 25, 30, 40, 60, 100):
        boxes = random_boxes(np.random.default_rng(0), 100, 2, n_rules, 2, "random")
        model, schema = as_rule_list(100, 2, boxes)
        started = time.perf_counter()
        ours = [count.low for count in count_rules(regions_of(model, schema))]
        seconds = time.perf_counter() - started
        started = time.perf_counter()
        theirs = recursion(100, 2, [*boxes, {}], started + patience)
        taken = time.perf_counter() - started
        if theirs is not None:
            agree &= theirs == ours
        rows.append({
            "rules": n_rules,
            "ours": round(seconds, 4),
            "recursion": round(taken, 4) if theirs is not None else f"> {patience:g}",
            "ratio": f"{'>' if theirs is None else ''}{taken / seconds:.1f}",
        })  # fmt: skip
        print(rows[-1], flush=True)
        if theirs is None:
            break
    print(pd.DataFrame(rows).to_string(index=False), "\n")
    return agree


def _measure(
    shape: tuple[str, int, int, int, int, str], seed: int, budget: float
) -> dict[str, float]:
    _, n_attributes, levels, n_rules, width, kind = shape
    rng = np.random.default_rng(seed)
    model, schema = as_rule_list(
        n_attributes, levels, random_boxes(rng, n_attributes, levels, n_rules, width, kind)
    )
    started = time.perf_counter()
    regions = regions_of(model, schema)
    counter = Counter(regions.domains, regions.boxes)
    found = count_rules(regions, counter=counter, deadline=time.monotonic() + budget)
    seconds = time.perf_counter() - started
    gap = max(math.log2(max(c.high, 1)) - math.log2(max(c.low, 1)) for c in found)
    return {"seconds": seconds, "exact": all(c.exact for c in found), "parts": counter.nodes,
            "gap": gap}  # fmt: skip


def random_boxes(
    rng: np.random.Generator, n_attributes: int, levels: int, n_rules: int, width: int, kind: str
) -> list[dict[int, int]]:
    """Intervals of random attributes, or of neighbouring ones."""
    boxes = []
    for number in range(n_rules):
        if kind == "chain":
            chosen = [(number + i) % n_attributes for i in range(width)]
        else:
            chosen = rng.choice(n_attributes, width, replace=False).tolist()
        box = {}
        for attribute in chosen:
            low, high = 0, levels - 1
            while high - low == levels - 1:
                low, high = sorted(rng.integers(levels, size=2).tolist())
            box[attribute] = ((1 << (high - low + 1)) - 1) << low
        boxes.append(box)
    return boxes


def as_rule_list(
    n_attributes: int, levels: int, boxes: list[dict[int, int]]
) -> tuple[RuleList, Schema]:
    """The boxes as rules over whole numbers, with a default rule."""
    rules = [
        Rule(
            tuple(
                Condition(a, (m & -m).bit_length() - 1.5, m.bit_length() - 0.5)
                for a, m in sorted(box.items())
            ),
            1,
        )
        for box in boxes
    ]
    names = tuple(f"a{i}" for i in range(n_attributes))
    counts = np.ones((len(rules) + 1, 2), dtype=np.int64)
    model = RuleList(names, (0, 1), (*rules, Rule((), 0)), Exact(counts))
    return model, Schema([Ordinal(name, 0, levels - 1) for name in names])


def recursion(
    n_attributes: int, levels: int, boxes: list[dict[int, int]], deadline: float
) -> list[int] | None:
    """Equations 13 to 15 as printed; ``None`` when the deadline passes."""

    def num(box: dict[int, int]) -> int:
        inside = math.prod(mask.bit_count() for mask in box.values())
        return inside * levels ** (n_attributes - len(box))

    def captured(first: int, box: dict[int, int]) -> int:
        if time.perf_counter() > deadline:
            raise TimeoutError
        overlap = dict(box)
        for attribute, mask in boxes[first].items():
            overlap[attribute] = overlap.get(attribute, mask) & mask
        own = num(overlap)
        return own - sum(captured(before, overlap) for before in range(first)) if own else 0

    try:
        return [captured(j, box) for j, box in enumerate(boxes)]
    except TimeoutError:
        return None

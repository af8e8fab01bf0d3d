"""How fast uncertainty falls as trees are added: Dist_G of the first 1, 2, 3, … trees of a forest.

Forests without bagging on the published samples of N people.  For every number of trees: tables
that fit all of them together (exact, or proved bounds and an estimate) beside the best single tree,
which is what the published measure gives.  A bound for fewer trees holds for more, so upper bounds
never rise.  Saved as CSV, Markdown and a figure.

``--whole`` measures forests of 100 trees on samples and on the whole table against a budget of 60
seconds.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import glassleak as gl
from glassleak import datasets
from glassleak.papers import Column, Sheet
from glassleak.papers._plot import GREY, SHADES, has_matplotlib, panels, plain_ticks, save
from glassleak.papers.forests._data import schema_of, split_of
from glassleak.papers.forests._setting import DATASETS, TITLES, Run
from glassleak.uncertainty.joint import joint_uncertainty

NAME = "forest-uncertainty"
HELP = "what remains uncertain as trees are added to a forest"
TREES = (1, 2, 3, 5, 10, 20, 50, 100)
QUICK_TREES = (1, 2, 3, 5, 10)
DEPTHS: tuple[int | None, ...] = (3, 5, None)
RESULTS = Path(__file__).resolve().parent / "results"
# How long an answer may take longer than it was told to: the last step cannot be cut short.
GRACE_SECONDS = 15.0

_COLUMNS = (
    Column("dataset", "dataset"),
    Column("n_rows", "rows", "count"),
    Column("depth", "depth"),
    Column("n_trees", "trees", "count"),
    Column("status", "status"),
    Column("low", "Dist_G at least", "error"),
    Column("estimate", "estimate", "error"),
    Column("high", "at most", "error"),
    Column("best_single", "best single tree", "error"),
    Column("seconds", "seconds", "seconds"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="up to 10 trees, COMPAS")
    parser.add_argument("--whole", action="store_true", help="100 trees against the clock")
    parser.add_argument("--dataset", action="append", choices=DATASETS,
                        help="(default: compas and adult)")  # fmt: skip
    parser.add_argument("--rows", type=int, default=100, help="(default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(default: %(default)s)")
    parser.add_argument("--budget", type=float, default=60.0, metavar="SECONDS",
                        help="for each answer (default: %(default)g)")  # fmt: skip
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER",
                        help="(default: benchmarks/results)")  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, save; 1 if a bound is crossed, uncertainty rises, or time is exceeded."""
    out: Path = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    names = tuple(arguments.dataset or (("compas",) if arguments.quick else ("compas", "adult")))
    stem = out / (f"{NAME}-whole" if arguments.whole else NAME)
    if arguments.whole:
        lines = _whole(names, arguments.seed, arguments.budget)
    else:
        trees = QUICK_TREES if arguments.quick else TREES
        lines = _growing(names, arguments.rows, trees, arguments.seed, arguments.budget)
    notes = (
        "No bagging, the paper's schema; the trees of a row are the first ones of one forest.",
        "Dist_G is the share of the uncertainty that remains, rows listed cell by cell.",
    )
    found: list[dict[str, Any]] = []
    for line in lines:
        found.append(line)
        print(line, file=sys.stderr, flush=True)
        sheet = Sheet("What remains uncertain as trees are added", _COLUMNS, tuple(found), notes)
        stem.with_suffix(".csv").write_text(sheet.to_csv(), encoding="utf-8")
        stem.with_suffix(".md").write_text(sheet.to_markdown(), encoding="utf-8")
    print(sheet.to_markdown(), flush=True)
    if not arguments.whole and has_matplotlib():
        save(draw(found, names), stem)
    broken = list(_broken(found, arguments.budget))
    for text in broken:
        print("does not hold:", text)
    return 1 if broken else 0


def _growing(
    names: Sequence[str], rows: int, trees: Sequence[int], seed: int, budget: float
) -> Iterator[dict[str, Any]]:
    for name in names:
        for depth in DEPTHS:
            split = split_of(Run(name, depth, max(trees), n_rows=rows, seed=seed))
            model = _forest(split.train, split.train_labels, depth, max(trees), seed)
            lowest = best = 1.0
            for count in trees:
                first = list(model.trees[:count])
                line = _line(name, depth, first, schema_of(name, "paper"), budget, seed)
                lowest, best = min(lowest, line["high"]), min(best, line["best_single"])
                if line["estimate"] is not None:
                    line["estimate"] = min(line["estimate"], lowest)
                yield line | {"high": lowest, "best_single": best}


def _whole(names: Sequence[str], seed: int, budget: float) -> Iterator[dict[str, Any]]:
    for name in names:
        for depth in DEPTHS:
            for rows in (100, 1000, None):
                table = datasets.load(name, variant="binary")
                data, target = table.data, table.target
                if rows is not None:
                    split = split_of(Run(name, depth, 100, n_rows=rows, seed=seed))
                    data, target = split.train, split.train_labels
                model = _forest(data, target, depth, 100, seed)
                yield _line(name, depth, [model], schema_of(name, "paper"), budget, seed)


def _forest(data: Any, target: Any, depth: int | None, trees: int, seed: int) -> gl.Forest:
    from sklearn.ensemble import RandomForestClassifier

    learner = RandomForestClassifier(trees, max_depth=depth, bootstrap=False, random_state=seed)
    model = gl.read(learner.fit(data, target))
    assert isinstance(model, gl.Forest)
    return model


def _line(
    name: str, depth: int | None, models: list[Any], schema: gl.Schema, budget: float, seed: int
) -> dict[str, Any]:
    started = time.perf_counter()
    found = joint_uncertainty(models, schema, budget_seconds=budget, seed=seed)
    seconds = time.perf_counter() - started
    assert found.ordered is not None
    assert found.per_model is not None
    return {
        "dataset": TITLES[name],
        "n_rows": found.n_rows,
        "depth": "none" if depth is None else str(depth),
        "n_trees": len(found.per_model),
        "status": found.status,
        "low": found.ordered.share_low,
        "estimate": None if found.ordered.estimate is None else found.ordered.share,
        "high": found.ordered.share_high,
        "best_single": float(found.per_model["share"].min()),
        "seconds": seconds,
    }


def _broken(lines: Sequence[dict[str, Any]], budget: float) -> Iterator[str]:
    before: dict[str, Any] | None = None
    for line in lines:
        place = f"{line['dataset']}, depth {line['depth']}, {line['n_trees']} trees"
        if line["low"] > line["high"] + 1e-9 or line["high"] > line["best_single"] + 1e-9:
            yield f"{place}: bounds cross, or one tree says more than all"
        same = before is not None and all(
            before[key] == line[key] for key in ("dataset", "depth", "n_rows")
        )
        exact = before is not None and before["status"] == line["status"] == "exact"
        if before is not None and same and exact and line["high"] > before["high"] + 1e-9:
            yield f"{place}: more remains uncertain than with fewer trees"
        if line["seconds"] > budget + GRACE_SECONDS:
            yield f"{place}: took {line['seconds']:.0f} s"
        before = line


def draw(lines: Sequence[dict[str, Any]], names: Sequence[str]) -> Callable[[], Any]:
    """Dist_G against trees: all together as a line with a band of proof, the best single dashed."""

    def figure() -> Any:
        picture, axes = panels(len(names), width=4.2, height=3.2)
        for panel, name in zip(axes, names, strict=True):
            for depth, colour in zip(DEPTHS, (SHADES[0], SHADES[2], SHADES[5]), strict=True):
                label = "none" if depth is None else str(depth)
                own = [x for x in lines if x["dataset"] == TITLES[name] and x["depth"] == label]
                trees = [x["n_trees"] for x in own]
                low, high = [x["low"] for x in own], [x["high"] for x in own]
                panel.fill_between(trees, low, high, color=colour, alpha=0.18, linewidth=0)
                # No line where there is no estimate: the band is all that is known.
                middle = [
                    x["high"] if x["status"] == "exact" else x["estimate"] or float("nan")
                    for x in own
                ]
                title = "no maximum depth" if depth is None else f"depth {depth}"
                panel.plot(trees, middle, "-o", color=colour, label=title)
                panel.plot(trees, [x["best_single"] for x in own], "--", color=colour)
            panel.set(xscale="log", xlabel="trees", title=TITLES[name], ylim=(-0.02, 1.0))
            plain_ticks(panel.xaxis, [1, 2, 5, 10, 20, 50, 100])
        axes[0].set_ylabel("uncertainty that remains (Dist_G)")
        axes[0].plot([], [], "--", color=GREY, label="best single tree")
        axes[0].legend()
        return picture

    return figure

"""Tables 6, 7 and 8: how the attack scales with the number of training rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from glassleak.papers._paper import Options, Output
from glassleak.papers._plot import GREY, SHADES, has_matplotlib, panels, plain_ticks
from glassleak.papers._sheet import Column, Sheet, ratio
from glassleak.papers.forests import _plan as plan
from glassleak.papers.forests._campaign import Results, carry_out
from glassleak.papers.forests._expected import lookup
from glassleak.papers.forests._setting import TIGHTER, TITLES
from glassleak.papers.forests._summary import notes, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DATASET_OF = {6: "compas", 7: "adult", 8: "default_credit"}
# From the captions; a fit to the printed means of Table 7 gives 2.3 all the same.
CAPTION_EXPONENT = {"compas": 1.7, "adult": 1.4, "default_credit": 2.4}

_COLUMNS = (
    Column("n_rows", "rows"),
    Column("paper_train", "train accuracy: paper", "share", terminal=False),
    Column("ours_train", "ours", "share", terminal=False),
    Column("paper_test", "test: paper", "share"),
    Column("ours_test", "ours", "share"),
    Column("paper_error", "error: paper"),
    Column("ours_error", "ours", "error"),
    Column("certain_rows", "sure rows", "count"),
    Column("certain_in_part", "in part", "count"),
    Column("paper_seconds", "paper s", "seconds"),
    Column("ours_seconds", "ours s", "seconds"),
    Column("ratio", "ratio", "ratio"),
    Column("paper_std", "paper std", "seconds", terminal=False),
    Column("ours_std", "ours std", "seconds", terminal=False),
    Column("paper_min", "paper min", "seconds", terminal=False),
    Column("ours_min", "ours min", "seconds", terminal=False),
    Column("paper_max", "paper max", "seconds", terminal=False),
    Column("ours_max", "ours max", "seconds", terminal=False),
    Column("ours_unsolved", "failed"),
)
_TIGHT_COLUMNS = (
    Column("tight_error", "tight error", "error"),
    Column("tight_seconds", "tight s", "seconds"),
)


def scaling_table(number: int, options: Options, log: Path) -> Output:
    """Table 6, 7 or 8."""
    dataset = DATASET_OF[number]
    runs = plan.scaling(dataset, options)
    results = carry_out(runs, lambda run: plan.budget_of(run, options), options, log)
    rows = [_line(results, dataset, n) for n in plan.SCALING_ROWS[dataset]]
    columns = _COLUMNS + (_TIGHT_COLUMNS if dataset in TIGHTER else ())
    growth = (
        f"Published times grow with N to the power {_exponent(rows, 'paper_seconds'):.1f} "
        f"(the caption says {CAPTION_EXPONENT[dataset]}), ours to the power "
        f"{_exponent(rows, 'ours_seconds'):.1f}."
    )
    more = [
        "Test accuracy is measured on all other rows of the table.",
        "Rows sure in part: but for values no tree asks about, such as a column that never varies.",
        "The paper prints errors to one decimal.",
        growth,
    ]
    if dataset == "adult":
        more.append("Published with 750 rows: two runs, to go by their mean, minimum and maximum.")
    if not has_matplotlib():
        more.append("No figure: matplotlib is not installed (pip install 'glassleak[papers]').")
    sheet = Sheet(
        f"Table {number}: {TITLES[dataset]}, 100 trees without a maximum depth, by number of rows",
        columns, tuple(rows), (*notes(results, options), *more),
    )  # fmt: skip
    return Output(sheet, draw=(lambda: _draw(rows, dataset)) if has_matplotlib() else None)


def _line(results: Results, dataset: str, n_rows: int) -> dict[str, Any]:
    paper = lookup("scaling", dataset=dataset, n_rows=n_rows)
    ours = summarise(results, n_rows=n_rows, schema="paper")
    seconds = ours.mean("seconds")
    row = {
        "n_rows": n_rows,
        "paper_train": paper["train_accuracy"],
        "ours_train": ours.mean("train_accuracy"),
        "paper_test": paper["test_accuracy"],
        "ours_test": ours.mean("table_accuracy"),
        "paper_error": paper["error_printed"],
        "ours_error": ours.or_not_solved(ours.mean("error")),
        "certain_rows": ours.mean("certain_rows"),
        "certain_in_part": ours.mean("certain_in_part"),
        "paper_seconds": paper["seconds"],
        "ours_seconds": ours.or_not_solved(seconds),
        "ratio": ratio(paper["seconds"], seconds),
        "paper_std": paper["seconds_std"],
        "ours_std": ours.std("seconds"),
        "paper_min": paper["seconds_min"],
        "ours_min": ours.low("seconds"),
        "paper_max": paper["seconds_max"],
        "ours_max": ours.high("seconds"),
        "ours_unsolved": ours.unsolved,
    }
    if dataset in TIGHTER:
        tight = summarise(results, n_rows=n_rows, schema="tight")
        row["tight_error"] = tight.or_not_solved(tight.mean("error"))
        row["tight_seconds"] = tight.or_not_solved(tight.mean("seconds"))
    return row


def _points(rows: list[dict[str, Any]], field: str) -> tuple[list[float], list[float]]:
    solved = [(r["n_rows"], r[field]) for r in rows if isinstance(r[field], float)]
    return [n for n, _ in solved], [seconds for _, seconds in solved]


def _exponent(rows: list[dict[str, Any]], field: str) -> float:
    n_rows, seconds = _points(rows, field)
    if len(n_rows) < 2:
        return float("nan")
    return float(np.polyfit(np.log(n_rows), np.log(seconds), 1)[0])


def _draw(rows: list[dict[str, Any]], dataset: str) -> Figure:
    figure, (axes,) = panels(1, width=4.6, height=3.4)
    axes.plot(*_points(rows, "paper_seconds"), "--o", color=GREY, label="published, 16 threads")
    axes.plot(*_points(rows, "ours_seconds"), "-o", color=SHADES[2], label="ours")
    axes.set(xscale="log", yscale="log", xlabel="training rows", ylabel="seconds",
             title=f"{TITLES[dataset]}: 100 trees, no maximum depth")  # fmt: skip
    plain_ticks(axes.xaxis, [25, 50, 100, 200, 500, 1000])
    axes.legend()
    return figure

"""Figure 4: who is left with how much uncertainty."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak.papers._paper import Options, Output
from glassleak.papers._plot import SHADES, grid_of_panels
from glassleak.papers._sheet import Column, Sheet
from glassleak.papers.uncertainty import _setting as setting
from glassleak.papers.uncertainty._execute import carry_out
from glassleak.papers.uncertainty._figures import run_by_run
from glassleak.papers.uncertainty._setting import DATASETS, NAMES, RULES, TITLES, TREES, Learner
from glassleak.papers.uncertainty._summary import Results, notes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHARES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
_PRINTED = (
    "Printed in the paper, optimal rule lists on Adult (depth 10): the least exposed keep more "
    "than 0.95 of their uncertainty, the most exposed less than 0.60."
)


def figure_4(options: Options, log: Path) -> Output:
    """Share of people whose remaining uncertainty is at most a value."""
    results = carry_out(list(setting.largest(options)), options, log)
    rows = tuple(
        _quantiles(results, dataset, learner) for dataset in DATASETS for learner in TREES + RULES
    )
    columns = (
        Column("dataset", "dataset"),
        Column("learner", "learner"),
        *(Column(f"q{share:g}", _quantile_title(share), "share") for share in _SHARES),
        Column("single", "one profile left", "count"),
    )
    depth = setting.depths_of(options)[-1]
    sheet = Sheet(
        f"Figure 4: remaining uncertainty per person, depth {depth}, support {setting.SUPPORTS[0]}",
        columns, rows, (_PRINTED, *notes(results, options)),
    )  # fmt: skip
    return Output(sheet, lambda: _draw(results), run_by_run(results))


def _quantile_title(share: float) -> str:
    return {0.0: "most exposed", 0.5: "median", 1.0: "least exposed"}.get(share, f"{share:.0%}")


def _ratios(results: Results, dataset: str, learner: Learner) -> list[float]:
    """Remaining share of uncertainty of every training row of every seed, sorted."""
    return sorted(
        ratio
        for run, record in results.items()
        if (run.dataset, run.learner) == (dataset, learner)
        for people, ratio in record["exposure"]
        for _ in range(people)
    )


def _quantiles(results: Results, dataset: str, learner: Learner) -> dict[str, Any]:
    ratios = _ratios(results, dataset, learner)
    return {
        "dataset": TITLES[dataset],
        "learner": NAMES[learner],
        "single": sum(
            record["single"]
            for run, record in results.items()
            if (run.dataset, run.learner) == (dataset, learner)
        ),
    } | {f"q{share:g}": ratios[min(int(share * len(ratios)), len(ratios) - 1)] for share in _SHARES}


def _draw(results: Results) -> Figure:
    figure, axes = grid_of_panels(2, len(DATASETS))
    for row, learners in zip(axes, (TREES, RULES), strict=True):
        for panel, dataset in zip(row, DATASETS, strict=True):
            for learner, colour in zip(learners, (SHADES[1], SHADES[4]), strict=True):
                ratios = _ratios(results, dataset, learner)
                share = [(i + 1) / len(ratios) for i in range(len(ratios))]
                panel.step(ratios, share, where="post", color=colour, label=NAMES[learner])
            kind = "trees" if learners == TREES else "rule lists"
            panel.set(title=f"{TITLES[dataset]}, {kind}", xlabel="remaining uncertainty (Dist_G)",
                      ylabel="share of people at most", xlim=(0, 1))  # fmt: skip
            panel.legend(loc="upper left")
    return figure

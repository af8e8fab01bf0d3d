"""Tables 2, 3 and 5: how long it takes, and how often no table is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from glassleak.papers._paper import Options, Output
from glassleak.papers._sheet import Column, Sheet, ratio
from glassleak.papers.forests import _bagging_campaign as bagging
from glassleak.papers.forests import _plan as plan
from glassleak.papers.forests._bagging_runs import BaggedRun
from glassleak.papers.forests._campaign import Results, carry_out
from glassleak.papers.forests._expected import expected, lookup
from glassleak.papers.forests._setting import DATASETS, DEPTHS, TIGHTER, TITLES, Formulation
from glassleak.papers.forests._summary import depth_text, notes, run_by_run, summarise

_TIME_COLUMNS = (
    Column("paper_seconds", "paper s", "seconds"),
    Column("ours_seconds", "ours s", "seconds"),
    Column("ratio", "ratio", "ratio"),
    Column("paper_unsolved", "failed: paper"),
    Column("ours_unsolved", "ours"),
    Column("paper_error", "paper error", "error"),
    Column("ours_error", "ours", "error"),
    Column("certain_rows", "sure rows", "count"),
    Column("certain_in_part", "sure in part", "count", terminal=False),
    Column("tight_seconds", "tight s", "seconds"),
    Column("tight_error", "tight error", "error"),
    Column("tight_certain_rows", "tight: sure rows", "count", terminal=False),
    Column("paper_unsolved_bagging", "bagging, failed: paper", terminal=False),
    Column("ours_unsolved_bagging", "ours", terminal=False),
    Column("paper_error_bagging", "bagging, paper error", "error"),
    Column("ours_error_bagging", "ours", "error"),
    Column("ours_seconds_bagging", "bagging, ours s", "seconds", terminal=False),
)
_BAGGING_NOTE = (
    "Bagging: which rows each tree drew is not used. The paper gives no time for it (hours were "
    "allowed); its errors are those of Figure 2."
)


def table_2(options: Options, log: Path) -> Output:
    """Time with 100 trees, by depth."""
    results = _results(plan.table_2(options), options, log)
    points = [(d, depth, 100) for d in DATASETS for depth in DEPTHS]
    bagged = _bagged(points, options, log)
    rows = tuple(
        {"dataset": TITLES[d], "max_depth": depth_text(depth)}
        | _times(results, lookup("table2", dataset=d, max_depth=depth), d, depth, 100)
        | _with_bagging(bagged, lookup("table2", dataset=d, max_depth=depth), d, depth, 100)
        for d in DATASETS
        for depth in DEPTHS
    )
    return _output(
        "Table 2: 100 trees, by maximum depth", Column("max_depth", "depth"), rows, results, options
    )


def table_3(options: Options, log: Path) -> Output:
    """Time without a maximum depth, by number of trees."""
    results = _results(plan.table_3(options), options, log)
    bagged = _bagged([(d, None, t) for d in DATASETS for t in plan.TABLE_3_TREES], options, log)
    rows = tuple(
        {"dataset": TITLES[d], "n_trees": trees}
        | _times(results, lookup("table3", dataset=d, n_trees=trees), d, None, trees)
        | _with_bagging(bagged, lookup("table3", dataset=d, n_trees=trees), d, None, trees)
        for d in DATASETS
        for trees in plan.TABLE_3_TREES
    )
    return _output(
        "Table 3: no maximum depth, by number of trees", Column("n_trees", "trees"), rows, results,
        options,
    )  # fmt: skip


def table_5(options: Options, log: Path) -> Output:
    """Time of each formulation on COMPAS."""
    results = _results(plan.table_5(options), options, log)
    methods: tuple[Formulation, ...] = ("auto", "rows-cp", "rows-milp")
    rows = tuple(
        row for depth in DEPTHS for m in methods if (row := _formulation(results, depth, m))
    )
    columns = (
        Column("max_depth", "depth"),
        Column("method", "method"),
        Column("forests", "trees"),
        Column("paper_all_seconds", "paper s, all forests", "seconds"),
        Column("paper_seconds", "paper s, these", "seconds"),
        Column("ours_seconds", "ours s", "seconds"),
        Column("ratio", "ratio", "ratio"),
        Column("paper_std", "paper std", "seconds", terminal=False),
        Column("ours_std", "std", "seconds"),
        Column("paper_min", "paper min", "seconds", terminal=False),
        Column("ours_min", "min", "seconds"),
        Column("paper_max", "paper max", "seconds", terminal=False),
        Column("ours_max", "max", "seconds"),
        Column("ours_unsolved", "failed"),
    )
    more = (
        '"paper, these": published means for the forests ours solved (Figures 2a and 4b).',
        "The ratio is to that.",
        "glassleak's own formulation is compared with the paper's CP model.",
    )
    title = "Table 5: COMPAS, the published formulations and ours"
    sheet = Sheet(title, columns, rows, notes(results, options) + more)
    return Output(sheet, runs=run_by_run(results))


def _results(runs: list[Any], options: Options, log: Path) -> Results:
    return carry_out(runs, lambda run: plan.budget_of(run, options), options, log)


def _output(
    title: str, by: Column, rows: tuple[dict[str, Any], ...], results: Results, options: Options
) -> Output:
    columns = (Column("dataset", "dataset"), by, *_TIME_COLUMNS)
    sheet = Sheet(title, columns, rows, (*notes(results, options), _BAGGING_NOTE))
    return Output(sheet, runs=run_by_run(results))


def _times(
    results: Results, paper: dict[str, Any], dataset: str, depth: int | None, trees: int
) -> dict[str, Any]:
    which = {"dataset": dataset, "max_depth": depth, "n_trees": trees}
    ours = summarise(results, **which, schema="paper")
    seconds = ours.mean("seconds")
    row = {
        "paper_seconds": paper["seconds"],
        "ours_seconds": ours.or_not_solved(seconds),
        "ratio": ratio(paper["seconds"], seconds),
        "paper_unsolved": f"{paper['unsolved']}/5",
        "ours_unsolved": ours.unsolved,
        "paper_error": lookup("figure2", **which)["error"],
        "ours_error": ours.mean("error"),
        "certain_rows": ours.mean("certain_rows"),
        "certain_in_part": ours.mean("certain_in_part"),
    }
    if dataset in TIGHTER:
        tight = summarise(results, **which, schema="tight")
        row |= {
            "tight_seconds": tight.or_not_solved(tight.mean("seconds")),
            "tight_error": tight.mean("error"),
            "tight_certain_rows": tight.mean("certain_rows"),
        }
    return row


def _bagged(
    points: list[tuple[str, int | None, int]], options: Options, log: Path
) -> bagging.Results:
    runs = [BaggedRun(*point, seed) for point in points for seed in plan.seeds_of(options)]
    return bagging.carry_out(runs, options, log)


def _with_bagging(
    results: bagging.Results, paper: dict[str, Any], dataset: str, depth: int | None, trees: int
) -> dict[str, Any]:
    which = {"dataset": dataset, "max_depth": depth, "n_trees": trees}
    return {
        "paper_unsolved_bagging": f"{paper['unsolved_bagging']}/5",
        "ours_unsolved_bagging": bagging.unsolved(results, **which),
        "paper_error_bagging": lookup("figure2_bagging", **which)["error"],
        "ours_error_bagging": bagging.mean(results, "error", **which),
        "ours_seconds_bagging": bagging.mean(results, "seconds", **which),
    }


def _formulation(results: Results, depth: int | None, method: Formulation) -> dict[str, Any] | None:
    ours = summarise(results, max_depth=depth, formulation=method)
    if not ours.records:
        return None
    theirs: Formulation = "rows-milp" if method == "rows-milp" else "rows-cp"
    paper = lookup("table5", max_depth=depth, formulation=theirs)
    trees = sorted({record["n_trees"] for record in ours.records})
    name = "figure4" if method == "rows-milp" else "figure2"
    curve = {line["n_trees"]: line for line in expected(name, dataset="compas", max_depth=depth)}
    # Only forests that were solved, or a run given up would count on one side alone.
    same = [curve[record["n_trees"]]["seconds"] for record in ours.solved]
    published = float(np.mean(same)) if same else None
    seconds = ours.mean("seconds")
    return {
        "max_depth": depth_text(depth),
        "method": "glassleak" if method == "auto" else method,
        "forests": ", ".join(map(str, trees)) if len(trees) < 12 else "all 12",
        "paper_all_seconds": paper["seconds"],
        "paper_seconds": published,
        "ours_seconds": ours.or_not_solved(seconds),
        "ratio": ratio(published, seconds),
        "paper_std": paper["seconds_std"],
        "ours_std": ours.std("seconds"),
        "paper_min": paper["seconds_min"],
        "ours_min": ours.low("seconds"),
        "paper_max": paper["seconds_max"],
        "ours_max": ours.high("seconds"),
        "ours_unsolved": ours.unsolved,
    }

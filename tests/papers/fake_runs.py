"""Records as a run would leave them, without running anything."""

from __future__ import annotations

from glassleak._version import __version__
from glassleak.papers.forests._bagging_runs import BaggedRun
from glassleak.papers.forests._setting import Run


def record_of(run: Run, budget_seconds: float = 5.0, **changes: object) -> dict[str, object]:
    """A solved run whose time and error depend on the run, so that a mix-up shows."""
    seconds = 0.1 * (1 + run.seed) + run.n_trees / 1000
    error = 0.2 if run.formulation == "random" else 0.01 if run.max_depth == 2 else 0.0
    return (
        run.key
        | {
            "glassleak": __version__,
            "budget_seconds": budget_seconds,
            "status": "unique" if run.max_depth is None else "consistent",
            "seconds": seconds,
            "error": error,
            "certain_rows": run.n_rows if run.max_depth is None else 40 + run.seed,
            "certain_in_part": 0,
            "train_accuracy": 0.9,
            "test_accuracy": 0.75,
            "table_accuracy": 0.74,
        }
        | changes
    )


def bagged_record_of(run: BaggedRun, budget: float) -> dict[str, object]:
    """A bagged run; one of them found no table."""
    failed = run.max_depth == 5 and run.seed == 2
    return run.key | {
        "glassleak": __version__,
        "budget_seconds": budget,
        "status": "not solved" if failed else "likely",
        "seconds": 1.0 + run.seed,
        "error": None if failed else 0.001 * run.seed + run.n_trees / 1e6,
    }

"""One bootstrap forest of the paper: attacked, or judged by the paper's best possible guess."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import linear_sum_assignment

from glassleak._version import __version__
from glassleak.errors import BudgetExhaustedError, ModelTooLargeError
from glassleak.knowledge import Known
from glassleak.models import Exact, Forest, Tree
from glassleak.papers._run_log import Record
from glassleak.papers.forests._data import Split, schema_of, split_of
from glassleak.papers.forests._setting import TRAINING_ROWS
from glassleak.papers.forests._setting import Run as PlainRun
from glassleak.readers import read
from glassleak.reconstruction import reconstruct
from glassleak.reconstruction.evaluation._evaluate import match_rows

What: TypeAlias = Literal["attack", "guess"]


@dataclass(frozen=True)
class BaggedRun:
    """One forest trained on bootstrap samples.

    Attributes
    ----------
    dataset, max_depth, n_trees, seed
        As in `Run`.
    what : "attack" or "guess"
        Our attack without the draws; or the paper's benchmark of Appendix E, which is told the
        training set to guess the draws and then forgets every value they do not fix.
    known_attributes : int
        Attributes the adversary knows of every row (Appendix G), picked at random by the seed.
    """

    dataset: str
    max_depth: int | None
    n_trees: int
    seed: int = 0
    what: What = "attack"
    known_attributes: int = 0

    @property
    def key(self) -> dict[str, object]:
        return dataclasses.asdict(self)

    @property
    def label(self) -> str:
        depth = "no limit" if self.max_depth is None else f"depth {self.max_depth}"
        known = f", {self.known_attributes} attributes known" if self.known_attributes else ""
        return (
            f"bagging, {self.dataset}, {self.n_trees} trees, {depth}, seed {self.seed}, "
            f"{self.what}{known}"
        )


def execute(run: BaggedRun, budget_seconds: float) -> Record:
    """Train, attack or guess, and write down the error."""
    from sklearn.ensemble import RandomForestClassifier

    split = split_of(
        PlainRun(run.dataset, run.max_depth, run.n_trees, TRAINING_ROWS, seed=run.seed)
    )
    forest = RandomForestClassifier(
        run.n_trees, max_depth=run.max_depth, random_state=run.seed
    ).fit(split.train, split.train_labels)
    model = read(forest)
    assert isinstance(model, Forest)
    record = run.key | {"budget_seconds": budget_seconds, "glassleak": __version__}
    started = time.perf_counter()
    if run.what == "guess":
        error = best_possible_guess(model, split.train, split.train_labels, run.seed)
        return record | {
            "status": "guess", "seconds": time.perf_counter() - started, "error": error,
        }  # fmt: skip
    return record | _attack(run, model, split, budget_seconds)


def _attack(run: BaggedRun, model: Forest, split: Split, budget_seconds: float) -> Record:
    schema = schema_of(run.dataset, "paper")
    names = [attribute.name for attribute in schema]
    rng = np.random.default_rng(run.seed)
    chosen = set(rng.permutation(names)[: run.known_attributes].tolist())
    columns = [c for attribute in schema if attribute.name in chosen for c in attribute.columns]
    known = Known(columns=split.train[columns]) if columns else None
    try:
        found = reconstruct(
            model, schema, known, multiplicities="unknown", budget_seconds=budget_seconds,
            seed=run.seed,
        )  # fmt: skip
    except (BudgetExhaustedError, ModelTooLargeError) as failure:
        return {"status": "not solved", "seconds": budget_seconds, "error": None,
                "reason": str(failure)}  # fmt: skip
    # Rows are paired on all columns, the error is that of the unknown ones (Appendix G).
    pairs = match_rows(split.train, found.table, schema).pairs
    unknown = [c for c in split.train.columns if c not in columns]
    truth = split.train[unknown].to_numpy()[pairs[:, 0]]
    ours = found.table[unknown].to_numpy()[pairs[:, 1]]
    return {
        "status": found.status,
        "seconds": round(found.seconds, 4),
        "error": float((truth != ours).mean()),
        "expected_error": found.details["expected_error"],
    }


def best_possible_guess(model: Forest, train: pd.DataFrame, labels: pd.Series, seed: int) -> float:
    """Error of the benchmark of Appendix E, in closed form.

    With the rows given, the paper's model splits into one problem per leaf and class: n draws
    over the h rows there.  Its objective is concave in each row's draws, so draws are spread as
    evenly as they can be; which rows get one more is arbitrary, here random.  Values on the paths
    of trees that drew the row are right, all others are taken to be wrong.
    """
    rng = np.random.default_rng(seed)
    values = train.to_numpy(dtype=np.float64)
    position = {label: i for i, label in enumerate(model.classes)}
    classes = np.array([position[label] for label in labels])
    fixed = np.zeros(values.shape, dtype=bool)
    for tree in model.trees:
        assert isinstance(tree.counts, Exact)
        leaf = tree.apply(values)
        tested = _tested(tree)
        for v in np.unique(leaf).tolist():
            for c in range(len(model.classes)):
                inside = np.flatnonzero((leaf == v) & (classes == c))
                n_draws = int(tree.counts.values[v, c])
                drawn = rng.permutation(inside)[:n_draws]
                fixed[np.ix_(drawn, tested[v])] = True
    guess = np.where(fixed, values, 1.0 - values)
    distance = (values[:, None, :] != guess[None, :, :]).mean(axis=2)
    rows, partners = linear_sum_assignment(distance)
    return float(distance[rows, partners].mean())


def _tested(tree: Tree) -> dict[int, npt.NDArray[np.int64]]:
    """The columns tested on the way to each leaf."""
    out: dict[int, Any] = {}
    stack: list[tuple[int, frozenset[int]]] = [(0, frozenset())]
    while stack:
        node, seen = stack.pop()
        if tree.feature[node] < 0:
            out[node] = np.array(sorted(seen), dtype=np.int64)
            continue
        more = seen | {int(tree.feature[node])}
        stack += [(int(tree.left[node]), more), (int(tree.right[node]), more)]
    return out

"""Train one learner on many random splits; accuracy and vulnerability of each list."""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from glassleak import datasets
from glassleak._version import __version__
from glassleak.membership import vulnerability
from glassleak.papers import _campaign
from glassleak.papers._paper import Options
from glassleak.papers._run_log import Record
from glassleak.papers.dp import _setting as setting
from glassleak.papers.dp._setting import Run


def carry_out(runs: Sequence[Run], options: Options, log_path: Path) -> dict[Run, Record]:
    """Every run's record, from the log where it comes from this version."""
    return _campaign.carry_out(
        runs,
        execute,
        lambda _run, record: record.get("glassleak") == __version__ and "roc" in record,
        options,
        log_path,
    )


def execute(run: Run) -> Record:
    """Carry out one run.

    Returns
    -------
    dict
        The run's own fields; means and standard errors over splits of ``accuracy``,
        ``vulnerability`` (V of Section 5.4) and ``by_chance`` (V with membership shuffled);
        ``roc``: mean share of members found at low rates of wrong accusations.
    """
    from sklearn.model_selection import train_test_split

    from glassleak.learners.private import PrivacyWarning

    table, labels = data_of(run.dataset)
    started = time.perf_counter()
    accuracy, exposed, chance, found = [], [], [], []
    for seed in range(run.n_runs):
        train, test, train_labels, test_labels = train_test_split(
            table, labels, test_size=setting.TEST_SHARE, random_state=seed
        )
        with warnings.catch_warnings():
            # Seeds make the figures repeatable; the lists are not published.
            warnings.simplefilter("ignore", PrivacyWarning)
            model = learner_of(run, seed).fit(train, train_labels)
        accuracy.append(float(model.score(test, test_labels)))
        if len(test) > 5000:
            # Enough to tell a difference of a thousandth, and a tenth of the time.
            train, train_labels = train.iloc[:5000], train_labels.iloc[:5000]
            test, test_labels = test.iloc[:5000], test_labels.iloc[:5000]
        attacked = vulnerability(model.to_model(), train, train_labels, test, test_labels)
        exposed.append(attacked.overall)
        chance.append(attacked.by_chance)
        roc = attacked.attacks[0].roc
        found.append([roc.found_at(rate) for rate in ROC_RATES])
    return run.key | {
        "accuracy": float(np.mean(accuracy)),
        "accuracy_error": _standard_error(accuracy),
        "vulnerability": float(np.mean(exposed)),
        "vulnerability_error": _standard_error(exposed),
        "by_chance": float(np.mean(chance)),
        "roc": np.mean(found, axis=0).tolist(),
        "seconds": round(time.perf_counter() - started, 3),
        "glassleak": __version__,
    }


ROC_RATES = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


@functools.cache
def data_of(dataset: str) -> tuple[pd.DataFrame, pd.Series]:
    """Attributes without the sensitive ones, and the class."""
    source = datasets.load(dataset, variant=setting.VARIANTS[dataset])
    kept = [
        column
        for column in source.data.columns
        if not str(column).lower().startswith(setting.SENSITIVE[dataset])
    ]
    return source.data[kept], source.target


def learner_of(run: Run, seed: int) -> Any:
    """The unfitted estimator; noise is seeded so that results can be repeated."""
    from glassleak.learners import GreedyRuleListClassifier, PrivateRuleListClassifier
    from glassleak.learners.private.published import PublishedPrivateRuleListClassifier

    if run.epsilon is None or run.learner == "greedy":
        return GreedyRuleListClassifier(
            setting.LENGTH - 1, setting.MIN_SUPPORT[run.dataset], setting.WIDTH
        )
    if run.learner == "certified":
        return PrivateRuleListClassifier(
            run.epsilon, setting.LENGTH - 1, setting.WIDTH, random_state=seed
        )
    return PublishedPrivateRuleListClassifier(
        run.epsilon, run.learner, setting.LENGTH, setting.WIDTH,
        min_support=setting.MIN_SUPPORT[run.dataset], confidence=setting.CONFIDENCE,
        random_state=seed,
    )  # fmt: skip


def _standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / len(values) ** 0.5) if len(values) > 1 else 0.0

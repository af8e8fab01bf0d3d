"""Rule lists and optimal trees on COMPAS and Adult as CORELS encodes them (27 and 24 columns).

Three questions, each answered in one run on one machine: how fast is the greedy learner beside
imodels', how long does it take to *prove* a list of ten rules optimal (and does plain enumeration
of all short lists agree), and how much does the leakage of equally accurate models differ.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from glassleak import datasets
from glassleak.learners import (
    GreedyRuleListClassifier,
    OptimalRuleListClassifier,
    OptimalTreeClassifier,
)

NAME = "rule-lists"
HELP = "greedy lists beside imodels, proofs of optimality, leakage of equally good models"
TABLES = ("compas", "adult")
SECONDS = 60.0  # for one proof


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dataset", action="append", choices=TABLES, help="(default: both)")
    parser.add_argument("--length", type=int, default=10, help="rules (default: %(default)s)")
    parser.add_argument(
        "--support", type=float, action="append", help="(default: 0.01, 0.03 and 0.05)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure and print; 1 if a proof fails, enumeration disagrees, or imodels is faster."""
    kept = _wide_greedy()
    for name in arguments.dataset or TABLES:
        table = datasets.load(name, variant="corels")
        X, y = table.data.to_numpy(float), table.target.to_numpy()
        kept = _greedy(name, X, y, arguments.length) and kept
        kept = _enumerated(name, X, y) and kept
        for support in arguments.support or (0.01, 0.03, 0.05):
            kept = _proof(name, X, y, arguments.length, support) and kept
        for schema in (None, table.schema):
            _leakage(name, table.data, y, arguments.length, schema)
        kept = _trees(name, X, y) and kept
    return 0 if kept else 1


def _timed(fit: Callable[[], Any]) -> tuple[Any, float]:
    started = time.perf_counter()
    result = fit()
    return result, time.perf_counter() - started


def _greedy(name: str, X: np.ndarray, y: np.ndarray, length: int) -> bool:
    try:
        from imodels import GreedyRuleListClassifier as Theirs
    except ImportError:
        print(f"{name}: greedy: imodels is not installed, nothing to compare with")
        return True
    GreedyRuleListClassifier(1).fit(X[:100], y[:100])  # compiles
    ours, seconds = _timed(lambda: GreedyRuleListClassifier(length, 1).fit(X, y))
    theirs, their_seconds = _timed(lambda: Theirs(max_depth=length).fit(X, y))
    errors = (float(np.mean(ours.predict(X) != y)), float(np.mean(theirs.predict(X) != y)))
    print(
        f"{name}: greedy, {length} rules: {seconds:.3f} s, errors {errors[0]:.4f}; imodels "
        f"{their_seconds:.3f} s, errors {errors[1]:.4f}; ratio {their_seconds / seconds:.1f}"
    )
    return their_seconds > seconds


def _wide_greedy() -> bool:
    """48,842 people, 47 columns, conjunctions of two conditions, ten rules."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(48_842, 47)).astype(float)
    y = (X[:, :5].sum(axis=1) + rng.normal(size=len(X)) > 2.5).astype(int)
    fit = GreedyRuleListClassifier(10, 0.001, 2).fit
    fit(X[:100], y[:100])
    fitted, seconds = _timed(lambda: fit(X, y))
    print(
        f"random 48,842 x 47, rules of two conditions (4,418 candidates): {seconds:.2f} s, "
        f"{len(fitted.rules_) - 1} rules"
    )
    return seconds < 10


def _enumerated(name: str, X: np.ndarray, y: np.ndarray, length: int = 2) -> bool:
    """All lists of `length` rules, one after the other, on the same merged rows."""
    points, point = np.unique(X, axis=0, return_inverse=True)
    counts = np.zeros((len(points), 2), dtype=np.int64)
    np.add.at(counts, (point.ravel(), y), 1)
    holds = np.hstack([points, 1 - points]).astype(bool)
    least = int(np.ceil(0.01 * len(X)))

    def enumerate_all() -> int:
        best = int(counts.sum(axis=0).min())
        for rules in itertools.permutations(range(holds.shape[1]), length):
            left, errors = np.ones(len(points), bool), 0
            for rule in rules:
                hit = counts[left & holds[:, rule]].sum(axis=0)
                if hit.sum() < least:
                    break
                errors += int(hit.min())
                left &= ~holds[:, rule]
                best = min(best, errors + int(counts[left].sum(axis=0).min()))
        return best

    expected, slow = _timed(enumerate_all)
    fitted, seconds = _timed(lambda: OptimalRuleListClassifier(length).fit(X, y))
    agree = fitted.certificate_.errors == expected
    print(
        f"{name}: all lists of {length} rules by enumeration: {slow:.2f} s, {expected} errors; "
        f"search {seconds:.2f} s, {fitted.certificate_.errors} errors; ratio {slow / seconds:.0f}"
    )
    return agree


def _proof(name: str, X: np.ndarray, y: np.ndarray, length: int, support: float) -> bool:
    learner = OptimalRuleListClassifier(length, support, budget_seconds=SECONDS)
    fitted, seconds = _timed(lambda: learner.fit(X, y))
    proof = fitted.certificate_
    greedy = GreedyRuleListClassifier(length, support).fit(X, y)
    print(
        f"{name}: {length} rules, support {support:g}: {proof.status} in {seconds:.2f} s, errors "
        f"{proof.objective:.4f}, at least {proof.lower_bound:.4f}; greedy "
        f"{1 - greedy.score(X, y):.4f}; {proof.nodes:,} sets looked at, {proof.states:,} distinct"
    )
    return proof.status == "optimal"


def _leakage(name: str, X: pd.DataFrame, y: np.ndarray, length: int, schema: Any) -> None:
    for tolerance in (0.0, 0.001):
        learner = OptimalRuleListClassifier(
            length, tie_break="least_leaky", schema=schema, tolerance=tolerance
        )
        fitted, seconds = _timed(partial(learner.fit, X, y))
        ties = fitted.ties_
        low, high = ties.dist_g_range
        print(
            f"{name}: lists within {tolerance:g} of optimal, "
            f"{'columns independent' if schema is None else 'valid profiles'}: {ties.n_models:,}"
            f"{'' if ties.complete else ' or more'}, Dist_G {low:.4f} to {high:.4f} "
            f"({seconds:.1f} s)"
        )


def _trees(name: str, X: np.ndarray, y: np.ndarray) -> bool:
    agree = True
    OptimalTreeClassifier(3, tie_break="least_leaky").fit(X[:200], y[:200])
    for depth in (2, 3, 4, 5):
        one, one_seconds = _timed(lambda d=depth: OptimalTreeClassifier(d).fit(X, y))
        ours, seconds = _timed(
            lambda d=depth: OptimalTreeClassifier(d, tie_break="least_leaky").fit(X, y)
        )
        low, high = ours.ties_.dist_g_range
        agree = agree and one.certificate_.errors == ours.certificate_.errors
        line = (
            f"{name}: trees of depth {depth}: one in {one_seconds:.2f} s; {ours.ties_.n_models:,} "
            f"optimal, Dist_G {low:.4f} to {high:.4f} ({seconds:.2f} s)"
        )
        try:
            theirs, their_seconds = _timed(
                lambda d=depth: OptimalTreeClassifier(d, solver="streed").fit(X, y)
            )
        except ImportError:
            print(line)
            continue
        status = theirs.certificate_.status
        if status == "optimal":
            agree = agree and theirs.certificate_.errors == ours.certificate_.errors
        ratio = their_seconds / one_seconds
        print(f"{line}; STreeD {their_seconds:.2f} s ({status}), ratio {ratio:.1f}")
    return agree

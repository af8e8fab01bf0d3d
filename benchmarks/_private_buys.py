"""What epsilon buys: accuracy, reconstruction error and remaining uncertainty, private or not.

An attacker makes two guesses from every model, the table `glassleak.reconstruct` returns and one
drawn at random from all that fit (the most likely counts, where there is noise), and is given the
better one.  Two lines put the errors into perspective: a table of *other* people of the same
population is what anybody can have without attacking anybody, and random profiles are what the
schema alone gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import glassleak as gl
from glassleak import datasets
from glassleak.knowledge import is_noisy, likely_sizes, most_likely
from glassleak.learners import (
    GreedyRuleListClassifier,
    PrivateForestClassifier,
    PrivateRuleListClassifier,
    PrivateTreeClassifier,
)
from glassleak.papers._plot import GREY, SHADES, panels, plain_ticks

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
KINDS = ("rule list", "tree", "forest")
PEOPLE, TREES, DEPTH, RULES = 1000, 5, 5, 4
SECONDS = 10.0  # for one attack
COLOURS = dict(zip(KINDS, (SHADES[0], SHADES[2], SHADES[5]), strict=True))


def measure(runs: int) -> pd.DataFrame:
    """One line per run and model."""
    data = datasets.load("compas", variant="binary")
    lines = []
    for seed in range(runs):
        train, rest, labels, others = train_test_split(
            data.data, data.target, train_size=PEOPLE, random_state=seed
        )
        strangers = gl.reconstruction_error(train, rest.iloc[:PEOPLE], data.schema)
        nothing = GreedyRuleListClassifier(0).fit(train, labels)
        random = min(_errors(nothing.to_model(), train, data.schema, seed))
        for kind, epsilon, learner in _learners(data.schema, seed):
            fitted = learner.fit(train, labels)
            model = gl.read(fitted)
            left = gl.uncertainty(model, data.schema, budget_seconds=SECONDS)
            lines.append({
                "kind": kind, "epsilon": epsilon, "seed": seed,
                "accuracy": float(fitted.score(rest, others)),
                "error": min(_errors(model, train, data.schema, seed)),
                "dist_g": left.dist_g, "dist_g_high": left.main.share_high,
                "promised": left.details.get("bits_per_person_at_most"),
                "bits": left.bits_uninformed / max(1, left.n_rows),
                "strangers": strangers, "random": random,
            })  # fmt: skip
    return pd.DataFrame(lines)


def _learners(schema: gl.Schema, seed: int) -> Iterator[tuple[str, float, Any]]:
    yield "rule list", np.inf, GreedyRuleListClassifier(RULES, 0.05, 2)
    yield "tree", np.inf, DecisionTreeClassifier(max_depth=DEPTH, random_state=seed)
    yield (
        "forest", np.inf,
        RandomForestClassifier(TREES, max_depth=DEPTH, bootstrap=False, random_state=seed),
    )  # fmt: skip
    own = {"schema": schema, "random_state": seed}
    for epsilon in EPSILONS:
        yield "rule list", epsilon, PrivateRuleListClassifier(epsilon, RULES, **own)
        yield "tree", epsilon, PrivateTreeClassifier(epsilon, DEPTH, **own)
        yield "forest", epsilon, PrivateForestClassifier(TREES, epsilon, DEPTH, **own)


def _errors(model: Any, truth: pd.DataFrame, schema: gl.Schema, seed: int) -> Iterator[float]:
    rows = len(truth) if is_noisy(model) else None
    table = gl.reconstruct(model, schema, budget_seconds=SECONDS, n_rows=rows, seed=seed).table
    yield gl.reconstruction_error(truth, table, schema)
    drawn = _drawn(model, schema, rows, seed)
    if drawn is not None:
        yield gl.reconstruction_error(truth, drawn, schema)


def _drawn(model: Any, schema: gl.Schema, rows: int | None, seed: int) -> pd.DataFrame | None:
    """A table that has the (most likely) counts, at random."""
    if not isinstance(model, gl.Forest):
        exact = _reachable_counts(model, schema, rows) if is_noisy(model) else model
        world = gl.uncertainty(exact, schema).dataset.sample(1, seed=seed)[0]
        return world.table
    if not is_noisy(model):
        return None
    parts = zip(model.trees, likely_sizes(model.trees, rows), strict=True)
    return pd.concat(
        [_drawn(tree, schema, n, seed + i) for i, (tree, n) in enumerate(parts)], ignore_index=True
    )


def _reachable_counts(model: Any, schema: gl.Schema, rows: int | None) -> Any:
    """As the library does it: first who can be anywhere, then the most likely counts."""
    from glassleak.uncertainty._groups import count_groups
    from glassleak.uncertainty._noisy import likely_model

    first = likely_model(model, lambda one: count_groups(one, schema))
    reached = first.counts.totals > 0
    places = np.arange(len(reached)) if isinstance(model, gl.RuleList) else model.leaves
    return most_likely(model, rows, reached[places])


def summary(found: pd.DataFrame) -> pd.DataFrame:
    """Means over runs."""
    return found.groupby(["kind", "epsilon"]).mean(numeric_only=True).drop(columns="seed")


def draw(found: pd.DataFrame) -> Figure:
    """Three panels over epsilon; what is not private as dotted lines."""
    means = summary(found)
    figure, axes = panels(3)
    wanted = (("accuracy", "test accuracy"), ("error", "reconstruction error"),
              ("dist_g", "uncertainty left (Dist_G)"))  # fmt: skip
    for panel, (column, title) in zip(axes, wanted, strict=True):
        for kind in KINDS:
            line = means.loc[kind][column]
            private = line[np.isfinite(line.index)]
            panel.plot(private.index, private, "-o", color=COLOURS[kind], label=f"private {kind}")
            panel.axhline(line[np.inf], color=COLOURS[kind], linestyle=":", label=f"plain {kind}")
        panel.set(title=title, xlabel="ε", xscale="log")
        plain_ticks(panel.xaxis, EPSILONS)
    axes[1].axhline(found["strangers"].mean(), color=GREY, label="a table of other people")
    axes[1].axhline(found["random"].mean(), color=GREY, linestyle="--", label="random profiles")
    axes[1].set_ylim(bottom=0)
    promise = means.loc["forest"].dropna(subset=["promised"])
    share = (1 - promise["promised"] / promise["bits"]).clip(lower=0)
    axes[2].plot(share.index, share, "-.", color=GREY, label="promised by ε, against anybody")
    axes[2].set_ylim(0, 1.02)
    handles: dict[str, Any] = {}
    for panel in axes:
        handles |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    figure.legend(handles.values(), handles, loc="outside lower center", ncols=5)
    return figure

"""Classes of rows: drawn again where they are open, and what is common among their rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from glassleak._compiled import compiled
from glassleak.reconstruction.mixed._sweep import _uniform


@compiled
def relabel(
    rows: Any, heat: float, allowed: Any, x: Any, labels: Any, leaf: Any, held: Any, times: Any,
    kind: Any, term: Any, starts: Any, usual: Any, random: Any,
) -> int:  # fmt: skip
    """Draw the classes of `rows` again, of those each is `allowed`; returns how many changed."""
    n_trees, n_classes, changed = leaf.shape[1], allowed.shape[1], 0
    energy, weight = np.zeros(n_classes), np.zeros(n_classes)
    for i in rows:
        own = labels[i]
        for c in range(n_classes):
            energy[c] = 0.0
            if not allowed[i, c]:
                continue
            for t in range(n_trees):
                m = times[i, t]
                if m:
                    v = leaf[i, t]
                    before = held[v, c] - (m if c == own else 0)
                    energy[c] += term[kind[v, c], before + m] - term[kind[v, c], before]
            energy[c] /= heat
            for b in range(x.shape[1]):
                energy[c] -= math.log(usual[c, starts[b] + x[i, b]])
        least = np.inf
        for c in range(n_classes):
            if allowed[i, c]:
                least = min(least, energy[c])
        total = 0.0
        for c in range(n_classes):
            weight[c] = math.exp(least - energy[c]) if allowed[i, c] else 0.0
            total += weight[c]
        mark, chosen = _uniform(random) * total, own
        for c in range(n_classes):
            mark -= weight[c]
            if mark < 0.0:
                chosen = c
                break
        if chosen == own:
            continue
        changed += 1
        labels[i] = chosen
        for t in range(n_trees):
            held[leaf[i, t], own] -= times[i, t]
            held[leaf[i, t], chosen] += times[i, t]
    return changed


@compiled
def tally(x: Any, labels: Any, leaf: Any, times: Any, first: Any, starts: Any, out: Any) -> None:
    """Rows of each class per level, of those whose level some tree asks for."""
    n_rows, n_axes = x.shape
    out[:] = 0.0
    heard = np.zeros(n_axes, np.bool_)
    for i in range(n_rows):
        heard[:] = False
        for t in range(leaf.shape[1]):
            if times[i, t]:
                for b in range(n_axes):
                    heard[b] |= first[leaf[i, t], b] >= 0
        for b in range(n_axes):
            if heard[b]:
                out[labels[i], starts[b] + x[i, b]] += 1.0

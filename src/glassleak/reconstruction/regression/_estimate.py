"""Targets of rows that were placed by counts alone: those closest to every leaf's mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import lsqr

from glassleak.models import Forest, Tree
from glassleak.reconstruction._result import Reconstruction

_MEANS = ("squared_error", "mse", "friedman_mse", "poisson")
_NOT_TOLD = (
    "most leaves hold several rows: targets were estimated from means, but for rows alone in a leaf"
)


def with_estimates(model: Tree | Forest, found: Reconstruction) -> Reconstruction:
    """`found`, with estimated targets for labels.

    Every leaf's mean is an equation for the targets of the rows placed in it; of all targets that
    come closest to the means, those closest to the mean of all rows are taken.
    """
    trees = model.trees if isinstance(model, Forest) else (model,)
    values = found.table.to_numpy(dtype=np.float64)
    n_rows = len(values)
    labels: npt.NDArray[np.float64] = np.full(n_rows, np.nan)
    if model.provenance.settings.get("criterion", "squared_error") in _MEANS and n_rows:
        blocks, wanted = [], []
        for tree in trees:
            assert tree.targets is not None
            leaf, at = np.unique(tree.apply(values), return_inverse=True)
            size = np.bincount(at)
            entries = (1.0 / np.sqrt(size))[at]
            # Weighted by the square root of the rows: large leaves would count least otherwise.
            blocks.append(
                sparse.csr_array((entries, (at, np.arange(n_rows))), shape=(len(leaf), n_rows))
            )
            wanted.append(np.sqrt(size) * (tree.targets[leaf] - tree.targets[0]))
        assert trees[0].targets is not None
        solution = lsqr(sparse.vstack(blocks), np.concatenate(wanted), iter_lim=500)[0]
        labels = solution + trees[0].targets[0]
    told = np.zeros(n_rows, dtype=bool)
    for tree in trees:
        assert tree.targets is not None
        assert tree.distinct_rows is not None
        leaf = tree.apply(values)
        alone = tree.distinct_rows[leaf] == 1
        labels[alone] = tree.targets[leaf[alone]]
        told |= alone
    certificate = found.certificate
    return replace(
        found, labels=labels, status="consistent" if found.status == "unique" else found.status,
        certificate=replace(
            certificate, bounds=certificate.bounds.assign(**{"class": None}),
            statements=(*certificate.statements, _NOT_TOLD),
        ),
        details=found.details
        | {"share_of_targets": float(told.mean()) if n_rows else 0.0, "targets": _NOT_TOLD},
    )  # fmt: skip

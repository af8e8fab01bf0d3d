"""Measurements that are too long for tests: ``python -m benchmarks`` lists them.

A benchmark is a module with ``NAME``, ``HELP``, ``add_arguments(parser)`` and ``run(arguments)``,
which returns 0 when what it promises holds and 1 when it does not.  Add it to `BENCHMARKS`.
"""

from benchmarks import (
    audit,
    bagging,
    counting,
    disclosure,
    forest_uncertainty,
    fuzz,
    mixed,
    private,
    reading,
    reconstruction,
    regression,
    replayed,
    rule_lists,
    sanitise,
    shallow,
    values,
)

BENCHMARKS = (
    audit,
    bagging,
    counting,
    disclosure,
    forest_uncertainty,
    fuzz,
    mixed,
    private,
    reading,
    reconstruction,
    regression,
    replayed,
    rule_lists,
    sanitise,
    shallow,
    values,
)

__all__ = ["BENCHMARKS"]

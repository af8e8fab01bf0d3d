"""One attempt after another at a whole-number solution, each with another random cost.

The relaxation's vertex is the solution if it is whole.  If not, CP-SAT looks among the few hundred
columns of smallest reduced cost, where it needs a fraction of a second; over all columns it needs
minutes.  An attempt that finds nothing is given up after a fixed effort, because a fresh cost is
worth more than patience: the run times have heavy tails.  Every few attempts the whole problem is
tried, with growing effort, so that impossible problems end in a proof.
"""

from __future__ import annotations

import threading

import numpy as np

from glassleak.reconstruction.residual._control import Control
from glassleak.reconstruction.residual._problem import Infeasible, IntArray, Problem
from glassleak.reconstruction.residual._restricted import Outcome, restricted
from glassleak.reconstruction.residual._vertex import Relaxation, whole

_POOLS = (350, 700, 1_400)
_EFFORT, _EFFORT_GROWTH = 1.0, 1.3
_WHOLE_EVERY, _WHOLE_EFFORT, _WHOLE_COLUMNS = 4, 4.0, 20_000


class Attempts:
    """Numbered attempts at one problem; the outcome of each depends on its number and the seed."""

    def __init__(self, problem: Problem, seed: int) -> None:
        self.problem, self.seed = problem, seed
        self.relaxation = Relaxation(problem)
        # Set once linear programming alone has had its chance: until then more threads are waste.
        self.first_vertex_seen = threading.Event()

    def on_the_whole(self, number: int) -> bool:
        """Whether this attempt is one on all columns, slow and meant for proofs."""
        few = self.problem.n_unknowns <= _WHOLE_COLUMNS
        return few and number % _WHOLE_EVERY == _WHOLE_EVERY - 1

    def run(self, number: int, control: Control) -> tuple[IntArray, str] | Infeasible | None:
        """A solution and how it was found, or a proof that none exists, or ``None``."""
        problem = self.problem
        rng = np.random.default_rng([self.seed, number])
        cost, solver_seed = rng.random(problem.n_unknowns), int(rng.integers(2**31 - 1))
        effort = _EFFORT * _EFFORT_GROWTH**number
        every = np.arange(problem.n_unknowns)
        if self.on_the_whole(number):
            effort *= _WHOLE_EFFORT
            z = restricted(problem, every, effort=effort, seed=solver_seed, control=control)
            return self._judged(z, everything=True)
        vertex = self.relaxation.vertex(cost, control, solver_seed)
        if vertex == "empty":
            return Infeasible("a combination of the equations that no values satisfy")
        if vertex is None:
            self.first_vertex_seen.set()
            # No vertex to guide the choice of columns; the attempts on the whole remain.
            return None
        rounded = whole(vertex.z)
        if rounded is not None and problem.solved_by(rounded):
            return rounded, "linear programming"
        self.first_vertex_seen.set()
        order = np.lexsort((vertex.reduced_cost, vertex.z <= 0))
        for size in _POOLS:
            if control.over():
                return None
            pool = np.sort(order[:size])
            z = restricted(problem, pool, effort=effort, seed=solver_seed, control=control)
            everything = len(pool) == len(every)
            # Too few columns: take more.  Too much effort: rather another cost.
            if not isinstance(z, str) or z == "unknown" or everything:
                return self._judged(z, everything=everything)
        return None

    def _judged(
        self, z: IntArray | Outcome, *, everything: bool
    ) -> tuple[IntArray, str] | Infeasible | None:
        if isinstance(z, str):
            return Infeasible("CP-SAT") if z == "impossible" and everything else None
        if not self.problem.solved_by(z):
            return None
        return z, "CP-SAT" if everything else "linear programming and CP-SAT"

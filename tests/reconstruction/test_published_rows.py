"""The published row formulations: answers that replay, sizes that fit the paper, refusals."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import RandomForestClassifier

from glassleak.errors import ModelTooLargeError, SchemaError, UnsupportedModelError
from glassleak.knowledge import Known
from glassleak.models import Bagging, Exact, Forest, Missing, Noisy, Tree
from glassleak.readers import read
from glassleak.reconstruction import reconstruct
from glassleak.reconstruction.published import RowsSolution, _rows_cp, _rows_milp
from glassleak.reconstruction.published import solve_rows_cp as cp
from glassleak.reconstruction.published import solve_rows_milp as milp
from glassleak.schema import Binary, Bins, Categorical, Numeric, Ordinal, Schema

AGE = ["age:young", "age:middle", "age:old"]
COLUMNS = ["sex", *AGE, "felony", "prior", "charge"]
SCHEMA = Schema(
    [Binary("sex"), Categorical("age", columns=AGE)]
    + [Binary(name) for name in ("felony", "prior", "charge")]
)
BOTH = pytest.mark.parametrize("solve", [cp, milp])
Solve = Callable[..., RowsSolution]


def people(
    n: int, n_classes: int, seed: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
    """A table like the paper's: yes/no columns and a one-hot group, labels that depend on them."""
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, size=(n, len(COLUMNS))).astype(float)
    table[:, 1:4] = np.eye(3)[rng.choice(3, size=n, p=[0.2, 0.5, 0.3])]
    labels = (table[:, 0] + table[:, 3] + rng.integers(0, 2, n)).astype(np.int64) % n_classes
    labels[:n_classes] = np.arange(n_classes)
    return table, labels


def trained(n: int, n_trees: int, n_classes: int, seed: int) -> Forest:
    table, labels = people(n, n_classes, seed)
    forest = RandomForestClassifier(n_trees, bootstrap=False, random_state=seed)
    model = read(forest.fit(table, labels))
    assert isinstance(model, Forest)
    return renamed(model)


def renamed(forest: Forest) -> Forest:
    """The same forest over `COLUMNS` (it was fitted without names)."""
    return Forest(tuple(with_columns(tree, COLUMNS) for tree in forest))


def with_columns(tree: Tree, columns: list[str]) -> Tree:
    return Tree(
        tuple(columns), tree.classes, tree.feature, tree.threshold, tree.left, tree.right,
        tree.counts,
    )  # fmt: skip


def stump(columns: list[str], column: int, left: list[int], right: list[int]) -> Tree:
    """One split at 1/2, with the counts of both leaves."""
    counts = np.array([np.add(left, right), left, right])
    return Tree(
        tuple(columns), tuple(range(len(left))), np.array([column, -1, -1]),
        np.array([0.5, np.nan, np.nan]), np.array([1, -1, -1]), np.array([2, -1, -1]),
        Exact(counts),
    )  # fmt: skip


def two_levels(columns: list[str], first: int, second: int, leaves: list[list[int]]) -> Tree:
    """Split on `first`, then both sides on `second`; leaves in the order 00, 01, 10, 11."""
    a, b, c, d = (np.array(leaf) for leaf in leaves)
    counts = np.array([a + b + c + d, a + b, a, b, c + d, c, d])
    nan = math.nan
    return Tree(
        tuple(columns), tuple(range(len(a))), np.array([first, second, -1, -1, second, -1, -1]),
        np.array([0.5, 0.5, nan, nan, 0.5, nan, nan]), np.array([1, 2, -1, -1, 5, -1, -1]),
        np.array([4, 3, -1, -1, 6, -1, -1]), Exact(counts),
    )  # fmt: skip


def check_replay(forest: Forest, solution: RowsSolution) -> None:
    """Send the table through every tree and compare every node and class."""
    for tree in forest:
        assert isinstance(tree.counts, Exact)
        reached = np.zeros_like(tree.counts.values)
        for row, label in zip(solution.table, solution.labels, strict=True):
            node = 0
            while True:
                reached[node, label] += 1
                if tree.feature[node] < 0:
                    break
                goes_left = row[tree.feature[node]] <= tree.threshold[node]
                node = int((tree.left if goes_left else tree.right)[node])
        np.testing.assert_array_equal(reached, tree.counts.values)


@BOTH
@pytest.mark.parametrize(
    ("n", "n_trees", "n_classes"), [(10, 5, 2), (15, 10, 3), (20, 10, 2), (20, 5, 4)]
)
def test_the_answer_replays_through_the_forest(
    solve: Solve, n: int, n_trees: int, n_classes: int
) -> None:
    forest = trained(n, n_trees, n_classes, seed=n + n_classes)
    solution = solve(forest, SCHEMA, budget_seconds=60)
    assert solution.status == "found"
    assert solution.table.shape == (n, len(COLUMNS))
    check_replay(forest, solution)
    assert set(np.unique(solution.table)) <= {0.0, 1.0}
    assert (solution.table[:, 1:4].sum(axis=1) == 1).all()
    assert 0 < solution.seconds < 60


@BOTH
def test_columns_follow_the_forest_and_not_the_schema(solve: Solve) -> None:
    forest = trained(12, 8, 2, seed=3)
    turned = Schema(tuple(reversed(SCHEMA.attributes)))
    solution = solve(forest, turned, budget_seconds=60)
    check_replay(forest, solution)
    assert (solution.table[:, 1:4].sum(axis=1) == 1).all()


def test_model_sizes_are_those_of_the_paper() -> None:
    forest = trained(12, 4, 2, seed=5)
    n, m = 12, len(COLUMNS)
    totals = forest.trees[0].counts.values[0]  # type: ignore[union-attr]
    captures = [
        int(totals[c])
        for tree in forest
        for leaf in tree.leaves
        for c in range(2)
        if tree.counts.values[leaf, c]  # type: ignore[union-attr]
    ]
    by_cp = cp(forest, SCHEMA, budget_seconds=60)
    assert by_cp.n_variables == n * m + sum(captures)
    # One-hot, one implication per y, the leaf counts, one leaf per row and tree.
    assert by_cp.n_constraints == n + sum(captures) + len(captures) + n * len(forest)

    nodes = sum(tree.n_nodes for tree in forest)
    inner = sum(tree.n_nodes - tree.n_leaves for tree in forest)
    depth = sum(tree.depth for tree in forest)
    by_milp = milp(forest, SCHEMA, budget_seconds=60)
    assert by_milp.n_variables == n * (m + nodes + depth)
    # One-hot, (3) (6) (7) per inner node, (4) (5) per depth, (8) per node and class, (9).
    ordered = int((totals - 1).sum())
    assert by_milp.n_constraints == n * (1 + 3 * inner + 2 * depth) + 2 * nodes + ordered


def test_the_linear_program_orders_the_rows_of_a_class() -> None:
    solution = milp(trained(16, 5, 2, seed=1), SCHEMA, budget_seconds=60)
    keys = solution.table @ 2.0 ** np.arange(len(COLUMNS))
    for c in range(2):
        assert (np.diff(keys[solution.labels == c]) >= 0).all()


def test_a_seed_moves_the_linear_program_but_not_its_validity() -> None:
    forest = trained(15, 3, 2, seed=2)
    answers = [milp(forest, SCHEMA, budget_seconds=60, seed=seed) for seed in (0, 1, 2)]
    for answer in answers:
        check_replay(forest, answer)
    assert len({answer.table.tobytes() for answer in answers}) > 1


@BOTH
def test_an_absent_level_is_possible_only_where_the_schema_says_so(solve: Solve) -> None:
    tree = two_levels(["a", "b"], 0, 1, [[2], [1], [1], [0]])
    forest = Forest((tree,))
    with_absent = Schema([Categorical("level", columns=["a", "b"], absent=True)])
    solution = solve(forest, with_absent, budget_seconds=60)
    assert Counter(map(tuple, solution.table.tolist())) == {(0, 0): 2, (0, 1): 1, (1, 0): 1}
    without = Schema([Categorical("level", columns=["a", "b"])])
    assert solve(forest, without, budget_seconds=60).status == "infeasible"


@BOTH
@pytest.mark.parametrize(
    "trees",
    [
        pytest.param(
            [stump(["a", "b"], 0, [3, 1], [2, 4]), stump(["a", "b"], 0, [2, 1], [3, 4])],
            id="the same split, other counts",
        ),
        pytest.param(
            [stump(["a", "b"], 0, [3, 1], [2, 4]), stump(["a", "b"], 1, [3, 1], [1, 5])],
            id="other class totals",
        ),
        pytest.param(
            [two_levels(["a", "b"], 0, 0, [[3, 1], [1, 0], [0, 0], [2, 2]])],
            id="a path that contradicts itself",
        ),
        pytest.param(
            # b is 1 for everybody with a = 1 (and for nobody else), says the first tree.
            [
                two_levels(["a", "b"], 0, 1, [[2, 2], [0, 0], [0, 0], [3, 3]]),
                stump(["a", "b"], 1, [1, 2], [4, 3]),
            ],
            id="one row moved",
        ),
    ],
)
def test_tampered_counts_are_infeasible(solve: Solve, trees: list[Tree]) -> None:
    solution = solve(Forest(tuple(trees)), Schema([Binary("a"), Binary("b")]), budget_seconds=60)
    assert solution.status == "infeasible"
    assert solution.table.shape == (0, 2)
    assert solution.labels.shape == (0,)


@st.composite
def small_forests(draw: st.DrawFn) -> Forest:
    """Depth-2 trees over three columns whose counts are those of a table, give or take a row."""
    n = draw(st.integers(1, 4))
    table = np.array(draw(st.lists(st.tuples(*[st.integers(0, 1)] * 3), min_size=n, max_size=n)))
    labels = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    trees = []
    for _ in range(draw(st.integers(1, 3))):
        first, second = draw(st.permutations(range(3)))[:2]
        leaf = 2 * table[:, first] + table[:, second]
        moved = draw(st.integers(-1, n - 1))
        if moved >= 0:
            leaf[moved] = draw(st.integers(0, 3))
        counts = np.zeros((4, 2), dtype=np.int64)
        np.add.at(counts, (leaf, labels), 1)
        trees.append(two_levels(["a", "b", "c"], first, second, counts.tolist()))
    return Forest(tuple(trees))


def has_a_table(forest: Forest) -> bool:
    """Try all tables, class by class."""
    counts = [tree.counts.values for tree in forest]  # type: ignore[union-attr]
    profiles = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
    leaves = forest.apply(profiles)
    for c, total in enumerate(counts[0][0]):
        for chosen in itertools.combinations_with_replacement(range(8), int(total)):
            if all(
                (np.bincount(leaves[list(chosen), t], minlength=7)[[2, 3, 5, 6]]
                == counts[t][[2, 3, 5, 6], c]).all()
                for t in range(len(forest))
            ):  # fmt: skip
                break
        else:
            return False
    return True


@BOTH
@settings(max_examples=40)
@given(forest=small_forests())
def test_feasible_exactly_when_some_table_fits(solve: Solve, forest: Forest) -> None:
    schema = Schema([Binary("a"), Binary("b"), Binary("c")])
    solution = solve(forest, schema, budget_seconds=60, workers=1)
    assert solution.status == ("found" if has_a_table(forest) else "infeasible")
    if solution.status == "found":
        check_replay(forest, solution)


@BOTH
def test_no_budget_no_answer(solve: Solve) -> None:
    solution = solve(trained(20, 5, 2, seed=0), SCHEMA, budget_seconds=0)
    assert solution.status == "unknown"
    assert solution.table.shape == (0, len(COLUMNS))


@BOTH
def test_trees_without_splits_and_tables_without_rows(solve: Solve) -> None:
    schema = Schema([Binary("a"), Binary("b")])

    def lone_leaf(counts: list[int]) -> Forest:
        tree = Tree(("a", "b"), (0, 1), [-1], [np.nan], [-1], [-1], Exact(np.array([counts])))
        return Forest((tree,))

    assert solve(lone_leaf([0, 0]), schema, budget_seconds=60).table.shape == (0, 2)
    three = solve(lone_leaf([2, 1]), schema, budget_seconds=60)
    assert three.status == "found"
    assert three.labels.tolist() == [0, 0, 1]


@BOTH
def test_progress_is_told_and_may_cancel(solve: Solve) -> None:
    steps: list[tuple[str, float]] = []
    forest = trained(10, 3, 2, seed=0)
    solve(forest, SCHEMA, budget_seconds=60, progress=lambda *step: steps.append(step))
    assert {step for step, _ in steps} == {"build", "solve"}
    assert all(0 <= share <= 1 for _, share in steps)

    def cancel(step: str, share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        solve(forest, SCHEMA, budget_seconds=60, progress=cancel)


@BOTH
@pytest.mark.parametrize(
    "attribute",
    [
        Ordinal("a", 0, 1),
        Numeric("a", 0, 1),
        Bins("a", ("a",), ((0,), (1,))),
        Categorical("a", levels=[0, 1]),
    ],
)
def test_other_attributes_are_refused(
    solve: Solve, attribute: Ordinal | Numeric | Bins | Categorical
) -> None:
    forest = Forest((stump(["a", "b"], 0, [1], [1]),))
    with pytest.raises(UnsupportedModelError, match="'a'"):
        solve(forest, Schema([attribute, Binary("b")]), budget_seconds=60)


@BOTH
def test_other_forests_are_refused(solve: Solve) -> None:
    schema = Schema([Binary("a"), Binary("b")])
    tree = stump(["a", "b"], 0, [1, 0], [1, 2])

    def refused(forest: Forest, match: str) -> None:
        with pytest.raises(UnsupportedModelError, match=match):
            solve(forest, schema, budget_seconds=60)

    refused(Forest((tree,), bagging=Bagging("unknown"), n_rows=4), "bagging")

    def like(**changes: object) -> Forest:
        fields = {
            name: getattr(tree, name)
            for name in ("columns", "classes", "feature", "threshold", "left", "right", "counts")
        }
        return Forest((Tree(**(fields | changes)),))  # type: ignore[arg-type]

    refused(like(counts=Missing("not published")), "exact counts")
    refused(like(counts=Noisy(np.zeros((3, 2)), 1.0, "laplace")), "exact counts")
    refused(like(distinct_rows=np.array([3, 1, 2])), "weighted")
    refused(like(threshold=np.array([1.5, np.nan, np.nan])), r"trees\[0\]\.nodes\[0\].*1\.5")
    refused(like(threshold=np.array([0.0, np.nan, np.nan]), comparison="<"), "separate")
    with pytest.raises(SchemaError):
        solve(Forest((tree,)), Schema([Binary("a"), Binary("c")]), budget_seconds=60)


@BOTH
def test_thresholds_at_the_edge_still_separate(solve: Solve) -> None:
    schema = Schema([Binary("a")])
    for threshold, comparison in ((0.0, "<="), (1.0, "<")):
        tree = Tree(
            ("a",), (0,), [0, -1, -1], [threshold, np.nan, np.nan], [1, -1, -1], [2, -1, -1],
            Exact(np.array([[5], [2], [3]])), comparison=comparison,  # type: ignore[arg-type]
        )  # fmt: skip
        solution = solve(Forest((tree,)), schema, budget_seconds=60)
        assert Counter(solution.table[:, 0].tolist()) == {0.0: 2, 1.0: 3}


@BOTH
def test_models_that_would_not_fit_memory_are_refused(
    solve: Solve, monkeypatch: pytest.MonkeyPatch
) -> None:
    schema = Schema([Binary("a"), Binary("b")])
    with pytest.raises(ModelTooLargeError, match="rows"):
        solve(Forest((stump(["a", "b"], 0, [2**39], [2**39]),)), schema, budget_seconds=60)
    monkeypatch.setattr(_rows_cp, "MAX_LITERALS", 100)
    monkeypatch.setattr(_rows_milp, "MAX_ENTRIES", 100)
    with pytest.raises(ModelTooLargeError, match="rows"):
        solve(Forest((stump(["a", "b"], 0, [30], [30]),)), schema, budget_seconds=60)


def test_more_columns_than_powers_of_two_can_order() -> None:
    columns = [f"x{i}" for i in range(40)]
    table = np.random.default_rng(0).integers(0, 2, (9, 40)).astype(float)
    trees = [
        stump(columns, i, [int((table[:, i] == 0).sum())], [int((table[:, i] == 1).sum())])
        for i in range(40)
    ]
    forest = Forest(tuple(trees))
    solution = milp(forest, Schema([Binary(c) for c in columns]), budget_seconds=60)
    check_replay(forest, solution)
    keys = solution.table[:, 16:] @ 2.0 ** np.arange(24)
    assert (np.diff(keys) >= 0).all()


def test_a_very_deep_tree_is_no_obstacle() -> None:
    """A chain: whoever has column i (and none before) leaves at depth i."""
    depth = 1500
    columns = tuple(f"x{i}" for i in range(depth))
    inner = 2 * np.arange(depth)
    feature = np.full(2 * depth + 1, -1)
    left, right = feature.copy(), feature.copy()
    threshold = np.full(len(feature), np.nan)
    feature[inner], threshold[inner] = np.arange(depth), 0.5
    right[inner], left[inner] = inner + 1, inner + 2
    counts = np.zeros((len(feature), 1), dtype=np.int64)
    counts[inner], counts[-1] = 2, 2
    forest = Forest((Tree(columns, (0,), feature, threshold, left, right, Exact(counts)),))
    solution = cp(forest, Schema([Binary(c) for c in columns]), budget_seconds=60)
    assert solution.status == "found"
    assert not solution.table.any()


def test_side_knowledge_is_refused_and_not_compared():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.integers(0, 2, (20, 3)), columns=list("abc"))
    labels = rng.integers(0, 2, 20)
    forest = RandomForestClassifier(2, bootstrap=False, random_state=0).fit(table, labels)
    with pytest.raises(UnsupportedModelError, match="take a forest and nothing else"):
        reconstruct(
            read(forest), Schema([Binary(c) for c in "abc"]), formulation="rows-cp",
            known=Known(columns=table[["a"]]),
        )  # fmt: skip

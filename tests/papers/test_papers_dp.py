import pytest

from glassleak import datasets
from glassleak.errors import DatasetUnavailableError
from glassleak.papers import PAPERS, Options
from glassleak.papers.dp import _execute
from glassleak.papers.dp._execute import ROC_RATES, data_of, execute, learner_of
from glassleak.papers.dp._items import PRINTED
from glassleak.papers.dp._setting import COMPARED, DATASETS, NAMES, Run, curves

PAPER = PAPERS["dp"]


@pytest.fixture
def made_up(monkeypatch):
    calls = []

    def fake(run):
        calls.append(run)
        epsilon = run.epsilon or 1000.0
        return run.key | {
            "accuracy": 0.6 + 0.1 * epsilon / (1 + epsilon),
            "accuracy_error": 0.001,
            "vulnerability": 0.51,
            "vulnerability_error": 0.001,
            "by_chance": 0.505,
            "roc": list(ROC_RATES),
            "seconds": 1.0,
            "glassleak": _execute.__version__,
        }

    monkeypatch.setattr(_execute, "execute", fake)
    return calls


@pytest.mark.parametrize(
    ("kind", "number"), [("figure", n) for n in (1, 2, 3, 4, 6)] + [("table", 1)]
)
def test_every_item_is_made_and_written(kind, number, made_up, tmp_path):
    output, files = PAPER.regenerate(PAPER.find(kind, number), Options(tmp_path))
    suffixes = {".csv", ".md"} | ({".svg", ".png"} if kind == "figure" else set())
    assert {f.suffix for f in files} == suffixes
    assert output.sheet.rows
    assert bool(made_up) is ((kind, number) != ("figure", 1))


def test_figure_1_noise_shrinks_with_people_but_not_under_global_sensitivity(tmp_path):
    rows = PAPER.find("figure", 1).regenerate(Options(tmp_path), tmp_path / "log").sheet.rows
    assert rows[0]["global"] == rows[-1]["global"] == 0.5
    assert rows[-1]["smooth"] < rows[0]["smooth"] / 50
    assert all(row["certified"] < row["smooth"] for row in rows)


def test_table_1_stands_beside_the_printed_numbers(made_up, tmp_path):
    rows = PAPER.regenerate(PAPER.find("table", 1), Options(tmp_path))[0].sheet.rows
    assert len(rows) == 3 * len(DATASETS)
    german = next(
        r for r in rows if (r["dataset"], r["learner"]) == ("German Credit", "smooth Laplace")
    )
    assert (german["printed_vulnerability"], german["printed_accuracy"]) == PRINTED[
        "german", "smooth-laplace"
    ]
    assert german["by_chance"] == 0.505


def test_items_share_runs(made_up, tmp_path):
    PAPER.regenerate(PAPER.find("table", 1), Options(tmp_path))
    before = len(made_up)
    PAPER.regenerate(PAPER.find("figure", 6), Options(tmp_path))
    assert len(made_up) == before


def test_full_preset_is_the_papers(tmp_path):
    runs = curves(DATASETS, COMPARED, (0.1, 1.0), Options(tmp_path, preset="full"))
    assert {run.n_runs for run in runs} == {100}
    assert len(runs) == 3 + 3 * len(COMPARED) * 2


def test_sensitive_columns_are_gone():
    table, _ = data_of("adult")
    assert not [c for c in table.columns if "gender" in c.lower()]
    assert table.shape[1] == 22
    try:
        datasets.load("german")
    except DatasetUnavailableError as error:
        pytest.skip(str(error))
    words = ("sex", "age", "personal_status", "foreign")
    assert not [c for c in data_of("german")[0].columns if c.startswith(words)]


@pytest.mark.parametrize("learner", ["greedy", "certified", "smooth-laplace"])
def test_real_run(learner, monkeypatch):
    table, labels = data_of("adult")
    few = (table.iloc[:600], labels.iloc[:600])
    monkeypatch.setattr(_execute, "data_of", lambda _: few)
    record = execute(Run("adult", learner, None if learner == "greedy" else 10.0, 2))
    assert 0.6 < record["accuracy"] < 0.95
    assert 0.5 <= record["vulnerability"] <= 1
    assert record["roc"][-1] == 1.0


def test_every_learner_has_a_name_and_an_estimator():
    for learner in NAMES:
        run = Run("adult", learner, None if learner == "greedy" else 1.0, 2)
        assert hasattr(learner_of(run, 0), "fit")
        assert NAMES[learner] in run.label

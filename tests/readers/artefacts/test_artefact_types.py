"""Code a load would run, and paths of the trainer's machine."""

from __future__ import annotations

import os
import subprocess

import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.tree import DecisionTreeClassifier

from glassleak.readers._state import Reference, State
from glassleak.readers.artefacts import scan


class Bomb:
    def __init__(self, what, *args) -> None:
        self.what, self.args = what, args

    def __reduce__(self):
        return self.what, self.args


@pytest.mark.parametrize(
    ("bomb", "name"),
    [
        (Bomb(os.system, "echo no"), f"{os.name}.system"),
        (Bomb(eval, "1 + 1"), "builtins.eval"),
        (Bomb(__import__, "os"), "builtins.__import__"),
        (Bomb(subprocess.getoutput, "echo no"), "subprocess.getoutput"),
    ],
)
def test_a_pickle_that_runs_a_command(scanned, bomb, name) -> None:
    found = scanned({"model": [bomb]}, pickled=True).one("runs-commands")
    assert found.severity == "refer"
    assert found.where == "['model'][0]"
    assert found.evidence == {"name": name, "called_on_loading": True}
    assert "tries to run it" in found.reveals


def test_a_command_that_is_only_named(scanned) -> None:
    found = scanned(make_pipeline(FunctionTransformer(os.system))).one("runs-commands")
    assert found.severity == "refer"
    assert found.evidence["called_on_loading"] is False


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("os", "system"),
        ("nt", "system"),
        ("runpy", "_run_code"),
        ("socket", "socket"),
        ("importlib", "import_module"),
        ("__builtin__", "exec"),
        ("builtins", "eval.__call__"),
        ("numpy.testing._private.utils", "runstring"),
        ("shutil", "rmtree"),
        ("urllib.request", "urlopen"),
        ("pickle", "loads"),
    ],
)
def test_dangerous_names(module, name) -> None:
    found = scan(State("sklearn.tree", "Tree", {"x": Reference(module, name)}))
    assert [(a.kind, a.severity) for a in found] == [("runs-commands", "refer")]


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("builtins", "slice"),
        ("collections", "OrderedDict"),
        ("copyreg", "_reconstructor"),
        ("numpy", "float64"),
        ("numpy._core.multiarray", "scalar"),
        ("os", "PathLike"),
        ("pandas.core.frame", "DataFrame"),
        ("functools", "partial"),
        ("sklearn.loadsomething", "x"),
        ("_loss", "CyHalfBinomialLoss"),
    ],
)
def test_harmless_names(module, name) -> None:
    assert scan(State("sklearn.tree", "Tree", {"x": Reference(module, name)})) == ()


def test_types_from_elsewhere_are_one_note_for_each_package() -> None:
    state = State("sklearn.pipeline", "Pipeline", {
        "a": State("companycode.steps", "Cleaner"),
        "b": State("companycode.other", "Scaler"),
        "c": Reference("companycode.other", "helper"),
        "d": State("__main__", "Own"),
    })  # fmt: skip
    found = scan(state)
    assert [(a.kind, a.severity, a.evidence["package"]) for a in found] == [
        ("foreign-types", "note", "companycode"),
        ("foreign-types", "note", "__main__"),
    ]
    assert found[0].evidence["types"] == ["Cleaner", "Scaler", "helper"]
    assert found[0].evidence["number_of_types"] == 3
    assert "the script that made the file" in found[1].reveals


def test_hostile_type_names_are_shown_short_and_printable() -> None:
    found = scan(State("evil\x1b[2J" + "x" * 10_000, "y\n" * 10_000))
    assert [a.kind for a in found] == ["foreign-types"]
    shown = str(found[0].to_document())
    assert len(shown) < 3000
    assert "\x1b" not in shown


@pytest.mark.parametrize(
    "path",
    [
        "/home/alice/cache",
        "/Users/alice/x.csv",
        r"C:\Users\alice\x.csv",
        "[data: /home/alice/t.csv]",
    ],
)
def test_home_directories(path) -> None:
    found = scan(State("sklearn.pipeline", "Pipeline", {"memory": path}))
    assert [(a.kind, a.severity, a.where) for a in found] == [
        ("home-path", "note", "Pipeline.memory")
    ]
    assert "alice" not in str(found[0].to_document())


@pytest.mark.parametrize(
    "text", ["home/office", "yes/no", "work/home/other/x", "/homestead/x", "a\\b", "/home/"]
)
def test_other_texts_with_slashes_are_no_paths(text) -> None:
    assert scan(State("sklearn.pipeline", "Pipeline", {"memory": text})) == ()


@pytest.mark.parametrize("pickled", [False, True])
def test_models_of_well_known_libraries_name_nothing_foreign(data, scanned, pickled) -> None:
    for model in (DecisionTreeClassifier(), RandomForestClassifier(3)):
        found = scanned(model.fit(data.X, data.y), pickled=pickled)
        assert not {"foreign-types", "runs-commands", "home-path"} & set(found.kinds)

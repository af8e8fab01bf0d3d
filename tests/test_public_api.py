"""What users may rely on: the names, that they are documented, and that importing is cheap."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from typing import Any

import pytest

import glassleak as gl

# Models are read as data; a library that trains or solves is loaded when it is asked for.
HEAVY = ("sklearn", "skops", "imodels", "lightgbm", "xgboost", "joblib", "ortools", "matplotlib")
PACKAGES = ("glassleak", "glassleak.audit", "glassleak.datasets", "glassleak.errors",
            "glassleak.models", "glassleak.readers", "glassleak.report",
            "glassleak.compare", "glassleak.sanitise", "glassleak.schema", "glassleak.counting",
            "glassleak.uncertainty")  # fmt: skip
PROMISED = ("Binary", "Bins", "Categorical", "Forest", "GlassleakError", "Limits", "Numeric",
            "Ordinal", "Policy", "RuleList", "Schema", "Tree", "__version__", "audit",
            "read", "sanitise", "uncertainty")  # fmt: skip


def package(name: str) -> Any:
    importlib.import_module(name)
    return sys.modules[name]


@pytest.mark.parametrize("name", PACKAGES)
def test_exports_exist_are_sorted_and_are_all_there_is(name: str) -> None:
    module = package(name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, entry) for entry in module.__all__)
    public = {
        entry
        for entry, value in vars(module).items()
        if not entry.startswith("_") and not inspect.ismodule(value) and entry != "annotations"
    }
    assert public == {entry for entry in module.__all__ if entry != "__version__"}


@pytest.mark.parametrize("name", PROMISED)
def test_promised_names_are_there(name: str) -> None:
    assert name in gl.__all__


@pytest.mark.parametrize("name", PACKAGES)
def test_everything_public_is_documented(name: str) -> None:
    module = package(name)
    assert inspect.getdoc(module)
    for entry in module.__all__:
        value = getattr(module, entry)
        if inspect.isclass(value) or inspect.isroutine(value):
            assert value.__doc__, f"{name}.{entry}"
            # A dataclass without a docstring of its own gets its signature as one.
            assert not value.__doc__.startswith(f"{entry}("), f"{name}.{entry}"


@pytest.mark.parametrize(
    "name", [n for n in gl.__all__ if inspect.isroutine(getattr(gl, n))], ids=str
)
def test_every_parameter_of_a_function_is_explained(name: str) -> None:
    function = getattr(gl, name)
    text = inspect.getdoc(function) or ""
    if "for the parameters" in text:  # "see … for the parameters"
        return
    for parameter in inspect.signature(function).parameters:
        assert parameter in text, f"{name}({parameter})"


def test_audit_is_the_function_however_it_is_imported() -> None:
    import glassleak.audit
    from glassleak import audit as imported

    assert glassleak.audit is imported
    assert inspect.isfunction(gl.audit)
    importlib.import_module("glassleak.audit.analyses")
    importlib.reload(sys.modules["glassleak.audit.analyses"])
    assert inspect.isfunction(gl.audit)
    from glassleak.audit import Policy

    assert Policy is gl.Policy


def test_errors_have_one_root() -> None:
    errors = package("glassleak.errors")
    for name in errors.__all__:
        assert issubclass(getattr(errors, name), gl.GlassleakError)


def loaded_by(statement: str) -> set[str]:
    script = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    return {name.partition(".")[0] for name in json.loads(result.stdout.splitlines()[-1])}


@pytest.mark.parametrize("statement", ["import glassleak", "import glassleak.cli"])
def test_importing_loads_no_modelling_library(statement: str) -> None:
    loaded = loaded_by(statement)
    assert "glassleak" in loaded
    assert not loaded & set(HEAVY)


def test_reading_and_auditing_load_no_modelling_library() -> None:
    statement = (
        "import glassleak as gl, numpy as np\n"
        "from glassleak.models import Exact, Tree\n"
        "tree = Tree(('a',), (0, 1), [-1], [np.nan], [-1], [-1], Exact(np.array([[5, 5]])))\n"
        "assert gl.audit(gl.read(tree.to_json())).verdict\n"
    )
    assert not loaded_by(statement) & (set(HEAVY) - {"ortools"})

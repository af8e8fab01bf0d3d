"""Write the parts of the documentation that are facts about the code, not prose.

``python docs/generate.py`` rewrites them; the tests compare them with what this script would write.

- ``reference/command-line.md`` from the real argument parser,
- ``reference/audit.schema.json``, a copy of the schema the package carries,
- the table in ``questions/file.md``, from findings in models trained and saved here,
- the table in ``reference/policy.md``, from the default policy.
"""

from __future__ import annotations

import argparse
import json
import pickle
import re
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
COMMAND_LINE = DOCS / "reference" / "command-line.md"
JSON_SCHEMA = DOCS / "reference" / "audit.schema.json"
ARTEFACTS = DOCS / "questions" / "file.md"
POLICY = DOCS / "reference" / "policy.md"
_BEGIN, _END = "<!-- begin: artefact kinds -->", "<!-- end: artefact kinds -->"
_BEGIN_POLICY, _END_POLICY = "<!-- begin: settings -->", "<!-- end: settings -->"
# Examples in help texts may end in a remark, set apart by spaces.
_REMARK = re.compile(r"(?<=\S) {2,}(?=\S)")
_ORDER = {"refer": 0, "fix": 1, "note": 2}


def main() -> None:
    COMMAND_LINE.write_text(command_line(), encoding="utf-8")
    JSON_SCHEMA.write_text(json_schema_text(), encoding="utf-8")
    page = ARTEFACTS.read_text(encoding="utf-8")
    ARTEFACTS.write_text(with_artefact_table(page, artefact_table()), encoding="utf-8")
    page = POLICY.read_text(encoding="utf-8")
    POLICY.write_text(with_policy_table(page), encoding="utf-8")


# Command line


def parser() -> argparse.ArgumentParser:
    """The parser of the ``glassleak`` command."""
    from glassleak.cli._main import _parser

    return _parser()


def command_line() -> str:
    """The page on the command line."""
    top = parser()
    commands = next(a for a in top._actions if isinstance(a, argparse._SubParsersAction))
    about = {choice.dest: choice.help for choice in commands._choices_actions}
    lines = [
        "<!-- Written by docs/generate.py from the argument parser; do not edit. -->",
        "# Command line",
        "",
        "One command per question. `glassleak COMMAND --help` prints what is on this page.",
        "",
        "| Command | Question or job |",
        "| --- | --- |",
        *(f"| [`glassleak {name}`](#glassleak-{name}) | {about[name]} |"
          for name in commands.choices),
        "",
        "```text",
        *(top.epilog or "").splitlines(),
        "```",
    ]  # fmt: skip
    for name, command in commands.choices.items():
        positional = [a for a in command._actions if not a.option_strings]
        usage = " ".join(["glassleak", name, *map(_name_of_positional, positional), "[OPTIONS]"])
        lines += ["", f"## glassleak {name}", "", f"`{usage}`", "", *_prose(command.description)]
        lines += ["", "| Argument | Meaning |", "| --- | --- |"]
        lines += [_row(command, a) for a in command._actions if a.dest != "help"]
        lines += ["", *_prose(command.epilog or "")]
    return "\n".join(lines).rstrip() + "\n"


def _name_of_positional(action: argparse.Action) -> str:
    name = str(action.metavar or action.dest)
    return f"[{name}]" if action.nargs == "?" else name


def _row(command: argparse.ArgumentParser, action: argparse.Action) -> str:
    meaning = (action.help or "") % {**vars(action), "prog": command.prog}
    if not action.option_strings:
        name = _name_of_positional(action)
    else:
        value = ""
        if action.nargs != 0:
            choices = f"{{{','.join(action.choices)}}}" if action.choices else ""
            value = f" {action.metavar or choices or action.dest.upper()}"
        name = ", ".join(action.option_strings) + value
    return f"| `{_cell(name)}` | {_cell(meaning)} |"


def _prose(text: str | None) -> Iterator[str]:
    """Plain paragraphs as they are, indented lines as a block."""
    inside = console = False
    for line in (text or "").splitlines():
        indented = line.startswith("  ")
        if indented and not inside:
            console = line.lstrip().startswith("glassleak ")
            yield from ("", "```bash" if console else "```text")
        elif inside and not indented:
            yield "```"
        inside = indented
        yield _REMARK.sub("  # ", line[2:]) if indented and console else line.removeprefix("  ")
    if inside:
        yield "```"


# Audit schema


def json_schema_text() -> str:
    """The JSON Schema of audit reports as the package has it."""
    from glassleak.audit import json_schema

    return json.dumps(json_schema(), indent=2) + "\n"


# Policy


def with_policy_table(page: str) -> str:
    """`page` with the table of settings replaced by that of the default policy."""
    from glassleak import Policy

    lines = ["| Setting | Default | Why | Source |", "| --- | --- | --- | --- |"]
    for line in Policy().to_document():
        value = json.dumps(line["value"])
        lines.append(
            f"| `{line['name']}` | {value} | {_cell(line['reason'])} | {_cell(line['source'])} |"
        )
    before, found, rest = page.partition(_BEGIN_POLICY)
    _, closed, after = rest.partition(_END_POLICY)
    if not found or not closed:
        raise SystemExit(f"{POLICY.name} lacks the markers {_BEGIN_POLICY} and {_END_POLICY}")
    table = "\n".join(lines)
    return f"{before}{_BEGIN_POLICY}\n\n{table}\n\n{_END_POLICY}{after}"


# Artefacts


def with_artefact_table(page: str, table: str) -> str:
    """`page` with the table between the two markers replaced."""
    before, found, rest = page.partition(_BEGIN)
    _, closed, after = rest.partition(_END)
    if not found or not closed:
        raise SystemExit(f"{ARTEFACTS.name} lacks the markers {_BEGIN} and {_END}")
    return f"{before}{_BEGIN}\n\n{table}\n\n{_END}{after}"


def artefact_table() -> str:
    """One line per kind of artefact and effect, each found in a model made for it."""
    found: dict[tuple[str, str], tuple[str, Any]] = {}
    for what, artefacts in _examples():
        for artefact in artefacts:
            found.setdefault((artefact.kind, artefact.severity), (what, artefact))
    lines = ["| Kind | Effect | Example | What was reported |", "| --- | --- | --- | --- |"]
    ordered = sorted(found.items(), key=lambda item: (_ORDER[item[0][1]], item[0][0]))
    for (kind, severity), (what, artefact) in ordered:
        lines.append(
            f"| `{kind}` | {severity} | {what}: `{_cell(artefact.where)}` "
            f"| {_cell(artefact.reveals)} |"
        )
    return "\n".join(lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _examples() -> Iterator[tuple[str, tuple[Any, ...]]]:
    from glassleak.readers import open_model

    for what, fitted in _fitted():
        yield what, open_model(fitted).artefacts
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.pkl"
        path.write_bytes(pickle.dumps(_Command()))
        yield "a pickle made to run a command", open_model(path, trust="sandbox").artefacts
        path = Path(folder) / "model.txt"
        path.write_text(_lightgbm_text(), encoding="utf-8")
        yield "LightGBM model text", open_model(path).artefacts


class _Command:
    """Runs a command when it is unpickled the ordinary way."""

    def __reduce__(self) -> tuple[Any, ...]:
        import os

        return os.system, ("echo this would have run",)


def _fitted() -> Iterator[tuple[str, Any]]:
    import numpy as np
    import pandas as pd
    from imodels import FIGSClassifier
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.isotonic import IsotonicRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import (
        MinMaxScaler,
        OneHotEncoder,
        QuantileTransformer,
        StandardScaler,
        TargetEncoder,
    )
    from sklearn.semi_supervised import LabelSpreading
    from sklearn.tree import DecisionTreeClassifier

    from glassleak import sanitise
    from glassleak.learners import PrivateRuleListClassifier

    warnings.filterwarnings("ignore")  # ten trees are few; that is the point here
    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 4)).round(2)
    y = (x[:, 0] + rng.normal(size=200) > 0.3).astype(int)
    town = np.array([[f"town {i % 7}"] for i in range(200)], dtype=object)

    def forest(**settings: Any) -> Any:
        return RandomForestClassifier(10, random_state=0, **settings).fit(x, y)

    def tree() -> Any:
        return DecisionTreeClassifier(max_depth=2, random_state=0)

    yield "RandomForestClassifier", forest()
    without = forest()
    for part in (without, *without.estimators_):
        part.random_state = None
    yield "the same, seeds removed", without
    yield "a tree, sanitised for `predict_proba`", sanitise(
        tree().fit(x, y), keep=("predict_proba",)
    )  # fmt: skip
    yield "PrivateRuleListClassifier with a seed", PrivateRuleListClassifier(
        random_state=0
    ).fit((x > 0).astype(float), y)  # fmt: skip
    yield '`class_weight="balanced"`', forest(class_weight="balanced")
    yield "`oob_score=True`", forest(oob_score=True)
    yield "MinMaxScaler before a tree", make_pipeline(MinMaxScaler(), tree()).fit(x, y)
    yield "StandardScaler before a tree", make_pipeline(StandardScaler(), tree()).fit(x, y)
    yield "OneHotEncoder before a tree", make_pipeline(OneHotEncoder(), tree()).fit(town, y)
    yield "TargetEncoder before a tree", make_pipeline(
        TargetEncoder(), tree()
    ).fit(town, y)  # fmt: skip
    quantiles = QuantileTransformer(n_quantiles=200, random_state=0)
    yield "QuantileTransformer before a tree", make_pipeline(quantiles, tree()).fit(x, y)
    yield "IsotonicRegression", IsotonicRegression().fit(x[:, 0], y)
    yield "RandomForestRegressor", RandomForestRegressor(10, random_state=0).fit(x, x[:, 0] + y)
    yield "HistGradientBoosting", HistGradientBoostingClassifier(max_iter=2).fit(x, y)
    yield "KNeighborsClassifier", KNeighborsClassifier().fit(x, y)
    yield "LabelSpreading", LabelSpreading().fit(x, y)
    yield "imodels FIGS", FIGSClassifier(max_rules=3).fit(x, y)
    yield "GridSearchCV", GridSearchCV(tree(), {"max_depth": [1, 2]}).fit(x, y)
    yield "a pipeline with a cache", make_pipeline(tree(), memory="/home/alice/cache").fit(x, y)
    labelled = tree().fit(x, y)
    labelled.ids_ = np.array([f"person {i}" for i in range(200)])
    yield "a tree with a list of names added", labelled
    tabled = tree().fit(x, y)
    tabled.extra_ = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    yield "a tree with a data frame added", tabled
    yield "an object of one's own class", _Wrapper(tree().fit(x, y))


class _Wrapper:
    """Somebody's own class around a model."""

    def __init__(self, model: Any) -> None:
        self.model = model


# A type from outside the well-known libraries, whatever this script is run as.
_Wrapper.__module__ = "hospital_tools.models"


def _lightgbm_text() -> str:
    import lightgbm
    import numpy as np

    rng = np.random.default_rng(0)
    x = rng.normal(size=(200, 3)).round(2)
    y = (x[:, 0] > 0).astype(int)
    settings = {"objective": "binary", "verbosity": -1, "num_threads": 1, "seed": 0}
    return str(lightgbm.train(settings, lightgbm.Dataset(x, y), 2).model_to_string())


if __name__ == "__main__":
    main()

"""Which code a normal load of the file would run, and texts about the trainer's machine."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator

from glassleak.readers._state import Visited
from glassleak.readers.artefacts._artefact import Json
from glassleak.readers.artefacts._finding import Finding, tidy
from glassleak.readers.artefacts._survey import Survey, TypeSeen

_KNOWN_PACKAGES = {
    "_loss",  # compiled losses of scikit-learn before 1.9, which leave out the package
    "catboost", "category_encoders", "corels", "dateutil", "glassleak", "gosdt", "imblearn",
    "imodels", "interpret", "joblib", "lightgbm", "mlxtend", "numpy", "pandas", "polars",
    "pyarrow", "pystreed", "pytz", "scipy", "sklearn", "skops", "streed", "wittgenstein", "xgboost",
}  # fmt: skip
# Modules that start programs, open connections, touch files or load further code.
_DANGEROUS_MODULES = {
    "_posixsubprocess", "_pickle", "_winapi", "asyncio", "bdb", "cloudpickle", "code", "codeop",
    "commands", "dill", "ftplib", "http", "importlib", "marshal", "multiprocessing", "nt", "os",
    "pdb", "pickle", "pip", "platform", "popen2", "posix", "profile", "pty", "requests", "runpy",
    "shutil", "smtplib", "socket", "subprocess", "sys", "telnetlib", "timeit", "trace", "urllib",
    "webbrowser",
}  # fmt: skip
_DANGEROUS_NAMES = {
    "builtins": {"__import__", "breakpoint", "compile", "eval", "exec", "execfile", "globals",
                 "input", "open"},
    "ctypes": {"CDLL", "LibraryLoader", "PyDLL", "WinDLL", "cdll", "windll"},
    "io": {"FileIO", "open", "open_code"},
    "_io": {"FileIO", "open", "open_code"},
    "types": {"CodeType", "FunctionType", "LambdaType"},
    "operator": {"methodcaller"},
    "numpy": {"fromfile", "load", "memmap"},
    "pandas": {"eval", "read_pickle"},
    "joblib": {"load"},
}  # fmt: skip
_DANGEROUS_FUNCTIONS = {"runstring", "rundocs", "getlincoef", "read_pickle"}
# os and its like are also where harmless classes live.
_HARMLESS = {
    ("importlib", "ModuleSpec"),
    ("os", "PathLike"),
    ("os", "stat_result"),
    ("posix", "stat_result"),
    ("sys", "float_info"),
    ("sys", "version_info"),
}
_SHOWN_TYPES = 20
_OLD_BUILTINS = {"__builtin__": "builtins", "__builtins__": "builtins"}
_HOME = re.compile(
    r"(?:^|[\s'\"=:\[(,])(?:/home/[^/\s]+/|/Users/[^/\s]+/|[A-Za-z]:\\+Users\\+[^\\\s]+\\)"
)


def commands(survey: Survey) -> Iterator[Finding]:
    """Names of functions that run commands, open connections or load code."""
    for seen in survey.types.values():
        if not _is_dangerous(seen):
            continue
        name = tidy(f"{seen.module}.{seen.name}", 80)
        does = "tries to run it" if seen.built else "names it"
        yield Finding(
            "runs-commands",
            Visited(seen.path, seen, None),
            "refer",
            f"`{name}` can run commands, reach files or the network, or load further code, and the "
            f"object {does} when it is loaded normally. No fitted model needs this.",
            "Do not load the file. Ask whoever made it for the model in a format that is data "
            "only (skops, JSON), and find out how this got in.",
            {"name": name, "called_on_loading": seen.built},
        )


def foreign_types(survey: Survey) -> Iterator[Finding]:
    """Types from outside the well-known libraries."""
    packages: dict[str, list[TypeSeen]] = {}
    for seen in survey.types.values():
        package = seen.module.partition(".")[0]
        known = package in _KNOWN_PACKAGES or package in sys.stdlib_module_names
        if package and not known and package not in _OLD_BUILTINS and not _is_dangerous(seen):
            packages.setdefault(package, []).append(seen)
    for package, members in packages.items():
        shown = tidy(package, 60)
        whose = (
            "the script that made the file" if package == "__main__" else f"the package `{shown}`"
        )
        names: list[Json] = [*sorted({tidy(m.name, 60) for m in members})[:_SHOWN_TYPES]]
        yield Finding(
            "foreign-types",
            Visited(members[0].path, members, None),
            "note",
            f"The object names types of {whose}, whose code would run when the file is loaded "
            "normally. glassleak does not run it, and cannot say what the types keep beyond what "
            "is listed here.",
            "Make sure that you know and trust this code, or have the model saved without it.",
            {
                "package": shown,
                "types": names,
                "number_of_types": len({m.name for m in members}),
            },
        )


def home_paths(survey: Survey) -> Iterator[Finding]:
    """Paths with the home directory, hence the account name, of whoever trained the model."""
    for visited in survey.texts:
        if "/home/" in visited.value or "Users" in visited.value:
            found = sum(1 for _ in _HOME.finditer(visited.value))
            if found:
                yield Finding(
                    "home-path",
                    visited,
                    "note",
                    "A path into somebody's home directory: it usually names the account of the "
                    "person who trained the model, and how their files are laid out.",
                    "Clear the setting, or train from a neutral directory.",
                    {"paths": found},
                )


def _is_dangerous(seen: TypeSeen) -> bool:
    module = _OLD_BUILTINS.get(seen.module, seen.module)
    package, name = module.partition(".")[0], seen.name
    if (package, name) in _HARMLESS:
        return False
    # Dotted names reach through: builtins "eval.__call__" is eval.
    first = name.partition(".")[0]
    return (
        package in _DANGEROUS_MODULES
        or first in _DANGEROUS_NAMES.get(package, ())
        or first in _DANGEROUS_FUNCTIONS
    )

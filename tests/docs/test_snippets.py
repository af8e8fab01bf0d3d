"""The documentation does what it says: code runs, commands parse, generated parts are current."""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import json
import re
import shlex
import socket
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import glassleak as gl

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
    *sorted(DOCS.rglob("*.md")),
    ROOT / "examples" / "README.md",
]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
_FENCE = re.compile(
    r"^(?:<!-- (?P<marker>[^\n]*) -->\n)?```(?P<language>\w+)\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_DIGITS = re.compile(r"\d[\d,.]*")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    marker: str
    code: str

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def skipped(self) -> bool:
        return self.marker.startswith("not run:")


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    found = []
    for match in _FENCE.finditer(text):
        line = text[: match.start("code")].count("\n") + 1
        found.append(Block(page, line, match["language"], match["marker"] or "", match["code"]))
    return found


def pages_with(*languages: str) -> list[Path]:
    return [p for p in PAGES if any(b.language in languages for b in blocks_of(p))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def script(path: Path):
    spec = importlib.util.spec_from_file_location(f"docs_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generate():
    return script(DOCS / "generate.py")


@pytest.fixture
def offline(monkeypatch):
    def refuse(*_):
        raise AssertionError("the documentation must not need a network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


# Python


@pytest.mark.parametrize("page", pages_with("python", "pycon"), ids=name_of)
def test_python_blocks_run_and_print_what_the_page_says(page, tmp_path, monkeypatch, offline):
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {"__name__": "page"}
    printed = ""
    for block in blocks_of(page):
        if block.language == "python":
            code = compile("\n" * (block.line - 1) + block.code, name_of(page), "exec")
            if not block.skipped:
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(code, namespace)
                printed = out.getvalue()
        elif block.language == "pycon":
            _run_doctest(block, namespace)
        elif block.marker == "output":
            assert _without_digits(printed) == _without_digits(block.code), block.place


def _run_doctest(block: Block, namespace: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(block.code, {}, block.place, None, block.line)
    assert test.examples, f"{block.place} has no examples"
    test.globs = namespace
    report = io.StringIO()
    failed, _ = doctest.DocTestRunner(verbose=False).run(test, out=report.write, clear_globs=False)
    assert not failed, report.getvalue()


def _without_digits(text: str) -> list[str]:
    """Lines without figures: those may change with the version of a library, words may not."""
    return [" ".join(_DIGITS.sub("#", line).split()) for line in text.strip().splitlines()]


def test_every_block_that_is_not_run_has_a_reason():
    for page in PAGES:
        for block in blocks_of(page):
            if block.marker.startswith("not run"):
                assert re.fullmatch(r"not run: \S.{10,}", block.marker), block.place


def test_outputs_follow_a_python_block():
    for page in PAGES:
        before = ""
        for block in blocks_of(page):
            if block.marker == "output":
                assert (before, block.language) == ("python", "text"), block.place
            before = block.language


# Commands


def _commands(page: Path) -> list[tuple[str, str]]:
    lines = []
    for block in blocks_of(page):
        if block.language in ("console", "bash"):
            lines += [(block.place, line.removeprefix("$ ")) for line in block.code.splitlines()]
    return lines


@pytest.mark.parametrize("page", pages_with("console", "bash"), ids=name_of)
def test_commands_exist(page, generate, capsys):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for place, line in _commands(page):
        words = shlex.split(line, comments=True)
        assert words, f"{place}: empty line"
        if words[0] == "glassleak":
            _check_arguments(generate.parser(), words[1:], f"{place}: {line}")
        elif words[0] == "make":
            assert set(words[1:]) <= targets, f"{place}: {line}"
        elif words[0] == "python" and words[1] != "-m":
            assert (ROOT / words[1]).is_file(), f"{place}: {line}"


def _check_arguments(parser, words: list[str], place: str) -> None:
    for sign in ("|", ">", "&&"):
        if sign in words:
            words = words[: words.index(sign)]
    code: object = 0
    try:
        parser.parse_args(words)
    except SystemExit as stop:  # --version and --json-schema print and leave with 0
        code = stop.code
    assert not code, f"{place} is refused by the argument parser"


def test_commands_named_in_prose_exist(generate):
    parser = generate.parser()
    # "glassleak model" is how reports call a container.
    known = {
        "COMMAND",
        "FILE",
        "model",
        *next(a for a in parser._actions if a.dest == "command").choices,
    }
    for page in PAGES:
        for command in re.findall(r"`glassleak ([\w-]+)", page.read_text(encoding="utf-8")):
            assert command in known or command.startswith("--"), f"{name_of(page)}: {command}"


# Examples


@pytest.mark.parametrize("path", EXAMPLES, ids=name_of)
def test_example_runs(path, tmp_path):
    done = subprocess.run(
        [sys.executable, str(path)], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not done.stderr.strip()


def test_gate_stops_what_the_audit_stops(tmp_path):
    import joblib
    from sklearn.tree import DecisionTreeClassifier

    joblib.dump(DecisionTreeClassifier().fit([[0], [1]], [0, 1]), tmp_path / "model.joblib")
    gate = [sys.executable, str(ROOT / "examples" / "gate_release.py")]
    refused = subprocess.run([*gate, "model.joblib", "report.json"], cwd=tmp_path)
    assert refused.returncode == 1
    assert json.loads((tmp_path / "report.json").read_text())["verdict"]["decision"] == "fix"
    assert subprocess.run([*gate, "absent.skops"], cwd=tmp_path).returncode == 2


def test_examples_are_listed():
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert {p.name for p in EXAMPLES} == set(re.findall(r"\((\w+\.py)\)", listed))


# Generated parts


def _is_current(path: Path, wanted: str) -> None:
    assert path.read_text(encoding="utf-8") == wanted, (
        f"{name_of(path)} is out of date; run: python docs/generate.py"
    )


def test_command_line_reference_is_current(generate):
    _is_current(generate.COMMAND_LINE, generate.command_line())


def test_json_schema_copy_is_current(generate):
    _is_current(generate.JSON_SCHEMA, generate.json_schema_text())


def test_policy_table_is_current(generate):
    page = generate.POLICY.read_text(encoding="utf-8")
    _is_current(generate.POLICY, generate.with_policy_table(page))


def test_artefact_table_is_current(generate):
    page = generate.ARTEFACTS.read_text(encoding="utf-8")
    fresh = generate.with_artefact_table(page, generate.artefact_table())
    message = "questions/file.md is out of date; run: python docs/generate.py"
    assert _without_digits(page) == _without_digits(fresh), message


def test_every_field_of_the_record_is_described():
    text = _FENCE.sub("", (DOCS / "report.md").read_text(encoding="utf-8"))
    schema = json.loads((DOCS / "reference" / "audit.schema.json").read_text(encoding="utf-8"))
    fields: set[str] = set()

    def collect(node: dict) -> None:
        for name, entry in node.get("properties", {}).items():
            fields.add(name)
            collect(entry)
        for inner in (node.get("items"), *node.get("$defs", {}).values()):
            if inner:
                collect(inner)

    collect(schema)
    assert {"sha256", "evidence", "protection"} <= fields
    words = set(re.findall(r"\w+", " ".join(re.findall(r"`([^`]+)`", text))))
    assert fields <= words


def test_every_public_name_is_in_the_reference():
    hooks = script(DOCS / "hooks.py")
    page = (DOCS / "reference" / "python.md").read_text(encoding="utf-8")
    targets = hooks.DIRECTIVE.findall(page)
    named = {t.partition(":")[2] for t in targets if t.startswith("glassleak:")}
    assert named == set(gl.__all__) - {"__version__"}
    for target in targets:
        assert target.partition(":")[2] in hooks.documented(target)


# Structure


def test_navigation_lists_every_page():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"([\w/-]+\.md)$", text, re.MULTILINE)
    assert sorted(listed) == sorted(p.relative_to(DOCS).as_posix() for p in DOCS.rglob("*.md"))


def test_links_between_files_lead_somewhere():
    for page in PAGES:
        for target in _LINK.findall(page.read_text(encoding="utf-8")):
            if not target.startswith(("http://", "https://", "mailto:")):
                assert (page.parent / target).exists(), f"{name_of(page)}: {target}"


def test_changelog_has_this_version():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"## [{gl.__version__}]" in changelog

"""The printed forms of a CORELS rule list, line by line.

Three programs print them: the Python package (``if [a && not b]:`` with the prediction on the next
line), the C++ program (``if ({a,b}) then ({label=1})``), and papers that put the former on one line
(``if [a]: [y = 1]``).  The C++ program also saves ``{a}~1;{b,c}~0;default~1``.

Lines are taken apart with `str.partition` and not with patterns, so that a line of a hundred
megabytes costs what it weighs and no more.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from glassleak.errors import MalformedModelError
from glassleak.readers.libraries._typed import shown

_TITLES = ("RULELIST:", "OPTIMAL RULE LIST")
_AFTER = ("LATEX form", "writing optimal rule list to")
_THEN = ") then ("
_FEATURES = ("All features: ([", "])")
_QUOTED = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*(?:,|$)""")
_ESCAPED = re.compile(r"\\(.)")
_SAVED = re.compile(r"(?:[^~;\n]+~[01];)*default~[01]")
# For sniffing only, on a few thousand characters.
_LOOKS_ROUND = re.compile(r"if \(.+\) then \(.+\)$")
_LOOKS_SQUARE = re.compile(r"if \[.+\]:\s*(\[.+ = .+\]$|$)")
_LOOKS_SAVED = re.compile(r"(?:[^~;\n]+~[01];)+|default~[01]$")
_LOOKS_PREDICTION = re.compile(r".+ = (True|False|0|1)$")


@dataclass(frozen=True)
class Line:
    """One rule: columns that must be 1 (or 0), and the label; no literals for the default."""

    literals: tuple[tuple[str, bool], ...]
    label: str


@dataclass(frozen=True)
class Printed:
    """A whole list; `features` only where the text names all of them."""

    rules: tuple[Line, ...]
    target: str
    features: tuple[str, ...]


def looks_like_rules(head: str) -> bool:
    """Whether `head` begins like one of the printed or saved forms."""
    lines = [line for raw in head.split("\n") if (line := raw.strip())]
    if not lines:
        return False
    if any(line in _TITLES for line in lines):
        return True
    first, second = lines[0], lines[1] if len(lines) > 1 else ""
    if square := _LOOKS_SQUARE.match(first):
        # Python source can look like the first line alone.
        return bool(square[1] or _LOOKS_PREDICTION.match(second))
    return bool(_LOOKS_ROUND.match(first) or _LOOKS_SAVED.match(first))


def parse_rules(content: str) -> Printed:
    """The rules of `content`; a line that is not understood is named by its number."""
    lines = [(i, line) for i, raw in enumerate(content.split("\n"), 1) if (line := raw.strip())]
    # The C++ program reports its progress before the title.
    start = next((i for i, (_, line) in enumerate(lines) if line in _TITLES), -1)
    lines = lines[start + 1 :]
    if not lines:
        raise MalformedModelError("no rules", "line 1")
    if _SAVED.fullmatch(lines[0][1]):
        return _parse_saved(lines)
    return _Parser(lines).parse()


def _parse_saved(lines: list[tuple[int, str]]) -> Printed:
    if len(lines) > 1:
        raise MalformedModelError("text after the rule list", f"line {lines[1][0]}")
    at, line = lines[0]
    *rules, default = [part.rpartition("~") for part in line.split(";")]
    parsed = [Line(_literals(names, ",", at), label) for names, _, label in rules]
    return Printed((*parsed, Line((), default[2])), "", ())


class _Parser:
    def __init__(self, lines: list[tuple[int, str]]) -> None:
        self.lines, self.next = lines, 0
        self.rules: list[Line] = []
        self.target: str | None = None

    def parse(self) -> Printed:
        done = False
        while not done:
            at, line = self._take("the rule list has no default rule")
            follows = line.startswith("else if ")
            condition = line.removeprefix("else ") if follows else line
            if condition.startswith(("if (", "if [")):
                self._in_order(at, follows)
                done = self._rule(at, condition[3:])
            else:
                self._default(at, line)
                done = True
        return Printed(tuple(self.rules), self.target or "", self._features())

    def _rule(self, at: int, line: str) -> bool:
        """A rule with a condition; true when the condition always holds."""
        if line.startswith("("):
            names, found, then = line[1:].rpartition(_THEN)
            if not found or not then.endswith(")"):
                raise MalformedModelError(f"not a rule: {shown(line)}", f"line {at}")
            # "if (1) then (…)" is how the C++ program prints a list without rules.
            always = names == "1" and not self.rules
            self._add(at, () if always else _literals(names, ",", at), then[:-1])
            return always
        names, found, then = line[1:].rpartition("]:")
        if not found:
            raise MalformedModelError(f"not a rule: {shown(line)}", f"line {at}")
        self._add(at, _literals(names, "&&", at), then.strip() or self._prediction_line())
        return False

    def _default(self, at: int, line: str) -> None:
        if line in ("else", "else:") or line.startswith(("else ", "else:")):
            self._in_order(at, True)
            then = line.removeprefix("else").removeprefix(":").strip()
            if then.startswith("if "):
                raise MalformedModelError(f"not a rule: {shown(line)}", f"line {at}")
            self._add(at, (), then or self._prediction_line())
        elif not self.rules:
            self._add(at, (), line)  # a list without rules is only its prediction
        else:
            raise MalformedModelError(f"not a rule: {shown(line)}", f"line {at}")

    def _prediction_line(self) -> str:
        at, line = self._take("a rule without a prediction")
        if line.startswith(("else", "if ")):
            raise MalformedModelError("expected a prediction", f"line {at}")
        return line

    def _take(self, otherwise: str) -> tuple[int, str]:
        if self.next >= len(self.lines):
            raise MalformedModelError(otherwise, f"line {self.lines[-1][0]}")
        self.next += 1
        return self.lines[self.next - 1]

    def _in_order(self, at: int, follows: bool) -> None:
        if follows != bool(self.rules):
            wrong = "starts with else" if follows else "is not tied to the rules before it by else"
            raise MalformedModelError(f"the rule {wrong}", f"line {at}")

    def _add(self, at: int, literals: tuple[tuple[str, bool], ...], then: str) -> None:
        target, label = _prediction(then, at)
        if self.target is None:
            self.target = target
        elif target != self.target:
            raise MalformedModelError(
                f"predicts {shown(target)}, the rules before it {shown(self.target)}", f"line {at}"
            )
        self.rules.append(Line(literals, label))

    def _features(self) -> tuple[str, ...]:
        """What follows the rules: a list of all columns, or the C++ program's farewell."""
        found: tuple[str, ...] = ()
        while self.next < len(self.lines):
            at, line = self._take("")
            if line.startswith(_AFTER):
                break
            opening, closing = _FEATURES
            if not (line.startswith(opening) and line.endswith(closing)):
                raise MalformedModelError(f"not a rule: {shown(line)}", f"line {at}")
            found = _quoted(line.removeprefix(opening).removesuffix(closing), at)
        return found


def _literals(names: str, separator: str, at: int) -> tuple[tuple[str, bool], ...]:
    names = names.strip()
    if names.startswith("{") and names.endswith("}"):
        names = names[1:-1]
    out = []
    for part in names.split(separator):
        name = part.strip()
        positive = not name.startswith("not ")
        name = name if positive else name.removeprefix("not ").strip()
        if not name:
            raise MalformedModelError("a condition without a name", f"line {at}")
        out.append((name, positive))
    return tuple(out)


def _prediction(then: str, at: int) -> tuple[str, str]:
    """``name = 1``, ``[name = 1]`` or ``{name:Yes}`` as name and value."""
    then = then.strip()
    for opening, closing in ("[]", "()", "{}"):
        if then.startswith(opening) and then.endswith(closing):
            then = then[1:-1].strip()
    cut = max(then.rfind("="), then.rfind(":"))
    name, value = then[: max(cut, 0)].strip(), then[cut + 1 :].strip()
    if cut < 0 or not value:
        raise MalformedModelError(f"not a prediction: {shown(then)}", f"line {at}")
    return name, value


def _quoted(listed: str, at: int) -> tuple[str, ...]:
    """The texts of a printed Python list."""
    names, position = [], 0
    while position < len(listed):
        match = _QUOTED.match(listed, position)
        if match is None:
            raise MalformedModelError("not a list of feature names", f"line {at}")
        names.append(_ESCAPED.sub(r"\1", match[1][1:-1]))
        position = match.end()
    return tuple(names)

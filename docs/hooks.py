"""What MkDocs does beyond Markdown: a line ``::: package:name`` becomes that name's docstring.

Docstrings are numpydoc; sections become lists.  Small enough not to need a plug-in, and strict: a
name that does not exist, or has no docstring, fails the build.
"""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

DIRECTIVE = re.compile(r"^::: (\S+)$", re.MULTILINE)
_SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
_ROLE = re.compile(r":[a-z]+:`~?\.?([^`]+)`")
_LONGEST = 88


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Called by MkDocs for every page."""
    return DIRECTIVE.sub(lambda match: documented(match[1]), markdown)


def documented(target: str) -> str:
    """Markdown for ``package:name``."""
    obj = pkgutil.resolve_name(target)
    package, _, name = target.partition(":")
    lines = [f"### `{name}`", "", "```py", signature(obj, package, name), "```", ""]
    lines.append(docstring(obj))
    if inspect.isclass(obj) and not issubclass(obj, Exception):
        lines += ["", *members(obj)]
    return "\n".join(lines)


def signature(obj: Any, package: str, name: str) -> str:
    """The call, on one line or one argument per line."""
    full = f"{package}.{name}"
    if inspect.isclass(obj) and issubclass(obj, Exception):
        return full
    found = inspect.signature(obj)
    arguments = list(_arguments(found))
    returns = _annotation(found.return_annotation)
    arrow = f" -> {returns}" if returns and returns != "None" else ""
    line = f"{full}({', '.join(arguments)}){arrow}"
    if len(line) <= _LONGEST:
        return line
    return "\n".join([f"{full}(", *(f"    {a}," for a in arguments), f"){arrow}"])


def _arguments(found: inspect.Signature) -> Iterator[str]:
    keyword_only = False
    for parameter in found.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            yield "*"
        annotation = _annotation(parameter.annotation)
        text = f"{parameter.name}: {annotation}" if annotation else parameter.name
        if parameter.default is not parameter.empty:
            # Defaults made by a factory have no value to show.
            plain = "<factory>" not in repr(parameter.default)
            text += f" = {parameter.default!r}" if plain else " = …"
        yield text


def _annotation(value: Any) -> str:
    if value is inspect.Signature.empty:
        return ""
    return value if isinstance(value, str) else getattr(value, "__name__", str(value))


def docstring(obj: Any) -> str:
    """The docstring as Markdown."""
    text = inspect.getdoc(obj)
    if not text:
        raise ValueError(f"{obj!r} has no docstring")
    text = _ROLE.sub(r"`\1`", text)
    pieces = _SECTION.split(text)
    out = [pieces[0].strip()]
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        out += ["", f"**{title}**", ""]
        out += _examples(body) if title == "Examples" else _entries(body)
    return "\n".join(out)


def _examples(body: str) -> Iterator[str]:
    yield from ("```pycon", body.strip(), "```")


def _entries(body: str) -> Iterator[str]:
    """Entries of a section: a line that is not indented, and what is said about it."""
    for entry in re.split(r"\n(?=\S)", body.strip("\n")):
        head, *said = entry.splitlines()
        name, colon, kind = head.partition(" : ")
        text = " ".join(line.strip() for line in said if line.strip())
        shown = f"`{name}`" + (f" ({kind})" if colon else "")
        yield f"- {shown}{': ' + text if text else ''}"


def members(cls: type) -> Iterator[str]:
    """Methods and properties a class defines itself, each with its first paragraph."""
    rows = []
    for name, value in vars(cls).items():
        if name.startswith("_"):
            continue
        is_property = isinstance(value, property)
        function = value.fget if is_property else inspect.unwrap(getattr(cls, name))
        if not (is_property or inspect.isroutine(function)) or not inspect.getdoc(function):
            continue
        said = " ".join(str(inspect.getdoc(function)).split("\n\n")[0].split())
        call = name if is_property else f"{name}({', '.join(_names(function))})"
        rows.append(f"- `{call}`: {_ROLE.sub(lambda m: f'`{m[1]}`', said)}")
    if rows:
        yield from ("**Methods and properties**", "", *rows)


def _names(function: Any) -> list[str]:
    parameters = inspect.signature(function).parameters
    return [name for name in parameters if name not in ("self", "cls")]

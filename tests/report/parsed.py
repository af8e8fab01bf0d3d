"""A page taken apart with the standard library's parser."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

_VOID = frozenset({"meta", "br", "hr", "link", "img", "input"})


@dataclass
class Element:
    name: str
    attributes: dict[str, str | None]
    children: list[Element] = field(default_factory=list)
    words: list[str] = field(default_factory=list)

    def text(self) -> str:
        return " ".join("".join(self.words).split())

    def every(self, name: str | None = None) -> list[Element]:
        found = [self] if name in (None, self.name) else []
        for child in self.children:
            found += child.every(name)
        return found


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("document", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"attribute twice in {tag}"
        element = Element(tag, dict(attrs))
        self._open[-1].children.append(element)
        if tag not in _VOID:
            self._open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._open[-1].children.append(Element(tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].name == tag, f"</{tag}> closes <{self._open[-1].name}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        for element in self._open:
            element.words.append(data)

    def close(self) -> None:
        super().close()
        assert len(self._open) == 1, "not everything was closed"


def parse(page: str) -> Element:
    """The page as a tree; fails unless every element is closed in its place."""
    parser = _Parser()
    parser.feed(page)
    parser.close()
    return parser.root


def skeleton(page: str) -> list[tuple[str, tuple[str, ...]]]:
    """Names of elements and attributes in order: what markup there is, whatever the words."""
    return [(e.name, tuple(e.attributes)) for e in parse(page).every()]

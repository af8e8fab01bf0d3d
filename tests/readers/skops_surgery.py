"""Take a .skops file apart, change something, and put it together again."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np


class Skops:
    """The parts of a .skops file, to be changed in place.

    Attributes
    ----------
    schema : dict
        Content of ``schema.json``.
    members : dict of str to bytes
        Everything else.
    """

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            self.members = {name: archive.read(name) for name in archive.namelist()}
        self.schema: Any = json.loads(self.members.pop("schema.json"))

    def nodes(self) -> Iterator[dict[str, Any]]:
        """Every node of the description."""
        stack: list[Any] = [self.schema]
        while stack:
            value = stack.pop()
            if isinstance(value, dict):
                if "__loader__" in value:
                    yield value
                stack.extend(value.values())
            elif isinstance(value, list):
                stack.extend(value)

    def attribute(self, name: str, nth: int = 0) -> dict[str, Any]:
        """The node of the attribute `name`, wherever it is."""
        found = []
        for node in self.nodes():
            content = node.get("content")
            if isinstance(content, dict) and isinstance(content.get(name), dict):
                found.append(content[name])
        return found[nth]

    def set(self, name: str, node: Any) -> None:
        """Replace the node of the attribute `name` everywhere."""
        for holder in self.nodes():
            content = holder.get("content")
            if isinstance(content, dict) and name in content:
                content[name] = node

    def add(self, name: str, node: Any) -> None:
        """Give the outermost object the attribute `name`."""
        self.schema["content"]["content"][name] = node
        self.schema["content"].pop("key_types", None)

    def array(self, name: str) -> np.ndarray:
        """A copy of the array in attribute `name`."""
        return np.load(io.BytesIO(self.members[self.attribute(name)["file"]])).copy()

    def put(self, name: str, array: np.ndarray) -> None:
        """Store another array in attribute `name`."""
        stream = io.BytesIO()
        np.save(stream, array, allow_pickle=True)
        self.members[self.attribute(name)["file"]] = stream.getvalue()

    def edit(self, name: str, change: Callable[[np.ndarray], Any]) -> None:
        """Change the array in attribute `name` in place, or return another."""
        array = self.array(name)
        changed = change(array)
        self.put(name, array if changed is None else changed)

    def write(self, path: Path, method: int = zipfile.ZIP_STORED) -> Path:
        """Put the file together."""
        with zipfile.ZipFile(path, "w", method) as archive:
            archive.writestr("schema.json", json.dumps(self.schema))
            for name, content in self.members.items():
                archive.writestr(name, content)
        return path


def json_node(value: Any) -> dict[str, Any]:
    """A plain value as skops describes it."""
    return {
        "__class__": "str",
        "__module__": "builtins",
        "__loader__": "JsonNode",
        "content": json.dumps(value),
        "is_json": True,
    }

"""How much a stranger's file may cost before it is refused."""

from __future__ import annotations

from dataclasses import dataclass

from glassleak.errors import ModelTooLargeError


@dataclass(frozen=True)
class Limits:
    """Bounds on reading a model.

    Attributes
    ----------
    file_bytes : int
        Largest file opened at all.
    unpacked_bytes : int
        Largest total size after decompression (archives can be bombs).
    json_bytes : int
        Largest JSON or text document.
    values : int
        Most values in an object graph (attributes, list entries; arrays count as one).
    nesting : int
        Deepest nesting of containers.
    nodes : int
        Most nodes of all trees together.
    seconds, memory_bytes
        For the sandboxed process that opens pickles.
    """

    file_bytes: int = 2 * 1024**3
    unpacked_bytes: int = 4 * 1024**3
    json_bytes: int = 1024**3
    values: int = 5_000_000
    nesting: int = 200
    nodes: int = 100_000_000
    seconds: float = 120
    memory_bytes: int = 8 * 1024**3

    def check_nodes(self, nodes: int) -> None:
        """Raise when trees have more nodes than allowed."""
        if nodes > self.nodes:
            raise ModelTooLargeError(f"{nodes:,} nodes, more than the limit of {self.nodes:,}")


DEFAULT_LIMITS = Limits()

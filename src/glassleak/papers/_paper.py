"""What every reproduced paper offers, and how its tables and figures are written to files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from glassleak.papers._plot import require_matplotlib, save
from glassleak.papers._sheet import Sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Preset: TypeAlias = Literal["quick", "full"]
Progress: TypeAlias = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Options:
    """What the reader asked for.

    Attributes
    ----------
    folder : Path
        Where results and the log of finished runs go; created when missing.
    preset : "quick" or "full"
        Minutes and one seed, or every run of the paper.
    budget_seconds : float, optional
        Time allowed for each run; the preset's own when not given.
    ours_only : bool
        Leave out runs of the published formulations, which take most of the time.
    progress : callable
        ``progress(done, total, label)`` before each run and once after the last.
    """

    folder: Path
    preset: Preset = "quick"
    budget_seconds: float | None = None
    ours_only: bool = False
    progress: Progress = field(default=lambda _done, _total, _label: None)


@dataclass(frozen=True)
class Output:
    """A regenerated table or figure.

    Attributes
    ----------
    sheet : Sheet
        Published and regenerated values side by side.
    draw : callable, optional
        Makes the figure.
    runs : Sheet, optional
        Run by run against the authors' own runs, when those are at hand.
    """

    sheet: Sheet
    draw: Callable[[], Figure] | None = None
    runs: Sheet | None = None


@dataclass(frozen=True)
class Item:
    """One table or figure of a paper.

    Attributes
    ----------
    kind : "table" or "figure"
    number : int
    about : str
        One line.
    regenerate : callable
        Given the options and the log of finished runs.
    """

    kind: Literal["table", "figure"]
    number: int
    about: str
    regenerate: Callable[[Options, Path], Output]

    @property
    def label(self) -> str:
        return f"{self.kind} {self.number}"


@dataclass(frozen=True)
class Paper:
    """A paper and what of it can be regenerated."""

    name: str
    title: str
    items: tuple[Item, ...]
    left_out: str

    def find(self, kind: str, number: int) -> Item | None:
        """The item, or ``None`` if it cannot be regenerated."""
        return next((i for i in self.items if (i.kind, i.number) == (kind, number)), None)

    def log_path(self, folder: Path) -> Path:
        """The log of finished runs; delete it to start again."""
        return folder / f"{self.name}-runs.jsonl"

    def regenerate(self, item: Item, options: Options) -> tuple[Output, tuple[Path, ...]]:
        """Run what is missing, compare, and write the files.

        Returns
        -------
        output : Output
        files : tuple of Path
            What was written.

        Raises
        ------
        MissingExtraError
            A figure was asked for and matplotlib is not installed; said before anything runs.
        """
        if item.kind == "figure":
            require_matplotlib()
        options.folder.mkdir(parents=True, exist_ok=True)
        output = item.regenerate(options, self.log_path(options.folder))
        stem = f"{self.name}-{item.kind}-{item.number}"
        files = _write(output.sheet, options.folder / stem)
        if output.runs is not None:
            files += _write(output.runs, options.folder / f"{stem}-runs")
        if output.draw is not None:
            files += save(output.draw, options.folder / stem)
        return output, tuple(files)


def _write(sheet: Sheet, stem: Path) -> list[Path]:
    table, text = stem.with_name(stem.name + ".csv"), stem.with_name(stem.name + ".md")
    table.write_text(sheet.to_csv(), encoding="utf-8")
    text.write_text(sheet.to_markdown(), encoding="utf-8")
    return [table, text]

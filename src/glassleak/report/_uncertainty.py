"""What remains uncertain, on a terminal."""

from __future__ import annotations

import numpy as np
import pandas as pd
from rich.console import Console
from rich.table import Table
from rich.text import Text

from glassleak._printable import printable
from glassleak.counting import readable_number
from glassleak.uncertainty import Uncertainty

_SHOWN = 6
_BAR = 40


def print_uncertainty(found: Uncertainty, console: Console) -> None:
    """Show `found` on `console`: the sentences first, then figures, then who is most exposed."""
    head = Text.assemble(
        (f"{found.n_rows:,} people", "bold"), f", {found.status}, in {found.seconds:.1f} s"
    )
    console.print(head)
    for line in found.statements:
        console.print(Text(f"  • {printable(line, 1000)}"))
    console.print(Text(f"  {printable(found.method)}", style="dim"))
    console.print(_figures(found))
    if found.exposure is not None and len(found.exposure):
        _print_histogram(found.exposure, console)
    if found.per_leaf is not None:
        _print_leaves(found.per_leaf, console)
    if found.by_group is not None and len(found.by_group):
        _print_groups(found.by_group, console)
    if found.per_model is not None and len(found.per_model):
        _print_models(found.per_model, console)


def _figures(found: Uncertainty) -> Table:
    table = Table(box=None, padding=(0, 2), title="\nBits that remain", title_justify="left",
                  title_style="bold")  # fmt: skip
    for name in ("", "remain", "without the model", "share that remains"):
        table.add_column(name, justify="left" if not name else "right")
    for name, one in (
        ("rows in their places (Dist_G)", found.ordered),
        ("any order of rows", found.unordered),
        ("any order, classes known", found.unordered_by_class),
    ):
        if one is None:
            continue
        left, share = f"{one.bits:,.1f}", f"{one.share:.6f}"
        if not one.exact:
            left = f"{one.low:,.1f} to {one.high:,.1f}"
            share = f"{one.share_low:.4f} to {one.share_high:.4f}"
        table.add_row(name, left, f"{one.uninformed:,.1f}", share)
    if found.dist is not None:
        table.add_row("attribute by attribute (Dist)", "", "", f"{found.dist:.6f}")
    other = found.conventions
    if other is not None and other["profiles"].iloc[0] != other["profiles"].iloc[1]:
        name = "valid profiles" if found.columns_independent else "independent columns"
        line = other.loc[name]
        table.add_row(f"Dist_G with {name}", f"{line['bits']:,.1f}",
                      f"{line['bits_uninformed']:,.1f}", f"{line['dist_g']:.6f}")  # fmt: skip
    return table


def _heading(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}", style="bold"))


def _print_histogram(exposure: pd.DataFrame, console: Console) -> None:
    """People by the share of their uncertainty that remains (Figure 4 of the paper)."""
    _heading(console, "Who is exposed: share of a person's uncertainty that remains")
    share = exposure["share"].to_numpy(dtype=np.float64).clip(0, 1)
    people = exposure["people"].to_numpy(dtype=np.int64)
    slot = np.minimum((share * 10).astype(int), 9)
    counts = np.bincount(slot, weights=people, minlength=10).astype(np.int64)
    most = max(1, int(counts.max()))
    for i, count in enumerate(counts.tolist()):
        # Whoever is there at all must be seen.
        bar = "█" * max(1, round(_BAR * count / most)) if count else ""
        colour = "red" if i < 2 else "yellow" if i < 5 else "green"
        console.print(
            Text.assemble(f"  {i * 10:3d} to {i * 10 + 10:3d} % ", (bar, colour), f" {count:,}")
        )


def _print_leaves(leaves: pd.DataFrame, console: Console) -> None:
    held = leaves.loc[leaves["rows"] > 0].sort_values("bits", kind="stable")
    table = Table(box=None, padding=(0, 2), title="\nMost exposed", title_justify="left",
                  title_style="bold")  # fmt: skip
    for name in ("leaf or rule", "people", "profiles left", "what is known"):
        table.add_column(name, justify="left" if name.startswith("what") else "right")
    for line in held.head(_SHOWN).to_dict("records"):
        low, high = line["profiles_low"], line["profiles_high"]
        left = readable_number(low)
        if low != high:
            left += f" to {readable_number(high)}"
        table.add_row(str(line["leaf"]), f"{line['rows']:,}", left,
                      Text(printable(line.get("conditions", ""), 160)))  # fmt: skip
    console.print(table)
    if len(held) > _SHOWN:
        console.print(Text(f"  … and {len(held) - _SHOWN:,} more", style="dim"))


def _print_groups(groups: pd.DataFrame, console: Console) -> None:
    table = Table(box=None, padding=(0, 2), title="\nGroups of people", title_justify="left",
                  title_style="bold")  # fmt: skip
    for name in ("group", "people", "bits left", "share", "single profile"):
        table.add_column(name, justify="left" if name == "group" else "right")
    for line in groups.head(2 * _SHOWN).to_dict("records"):
        name = f"{printable(line['column'], 60)} = {printable(line['value'], 60)}"
        table.add_row(Text(name), f"{line['people']:,}", f"{line['bits']:.2f}",
                      f"{line['share']:.3f}", f"{line['single_profile']:,}")  # fmt: skip
    console.print(table)


def _print_models(models: pd.DataFrame, console: Console) -> None:
    table = Table(box=None, padding=(0, 2), title="\nEach alone", title_justify="left",
                  title_style="bold")  # fmt: skip
    for name in ("model", "bits left", "share"):
        table.add_column(name, justify="left" if name == "model" else "right")
    for line in models.nsmallest(_SHOWN, "bits").to_dict("records"):
        table.add_row(
            Text(printable(line["model"])), f"{line['bits']:,.1f}", f"{line['share']:.4f}"
        )
    console.print(table)
    if len(models) > _SHOWN:
        console.print(Text(f"  … and {len(models) - _SHOWN:,} more", style="dim"))

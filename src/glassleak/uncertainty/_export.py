"""The probabilistic dataset as a table, as JSON and as text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pandas as pd

from glassleak.counting import decimal_text, readable_number
from glassleak.uncertainty._conditions import joint_text, level_names, remaining_text, visible

if TYPE_CHECKING:
    from glassleak.uncertainty._dataset import ProbabilisticDataset

FORMAT = "glassleak probabilistic dataset"
VERSION = 1
_SHOWN = 40


def dataset_table(dataset: ProbabilisticDataset) -> pd.DataFrame:
    """One line per group of rows, with what remains of every attribute in words."""
    groups = dataset.groups
    domains = groups.regions.domains
    lines = []
    texts: dict[int, list[str]] = {}
    for line in dataset.lines:
        if line.group not in texts:
            sets = dataset.remaining(line.group)
            texts[line.group] = [
                remaining_text(domain, levels) for domain, levels in zip(domains, sets, strict=True)
            ]
        count = groups.counts[line.group]
        lines.append([
            line.leaf, line.rows, line.label, *texts[line.group], joint_text(groups, line.group),
            count.low, count.high,
        ])  # fmt: skip
    names = [domain.attribute.name for domain in domains]
    heads = [groups.noun, "rows", "class", *names, "and", "profiles_low", "profiles_high"]
    table = pd.DataFrame(lines, columns=_distinct(heads), dtype=object)
    return table.astype({table.columns[0]: "int64", table.columns[1]: "int64"})


def _distinct(heads: list[str]) -> list[str]:
    """Attributes may be called "rows": mark ours then, never theirs."""
    seen: dict[str, int] = {}
    for head in heads:
        seen[head] = seen.get(head, 0) + 1
    ours = {0, 1, 2, *range(len(heads) - 3, len(heads))}
    return [f"{h} (glassleak)" if i in ours and seen[h] > 1 else h for i, h in enumerate(heads)]


def dataset_json(dataset: ProbabilisticDataset) -> str:
    """JSON text; integers that may exceed 2**53 are strings."""
    groups = dataset.groups
    domains = groups.regions.domains
    remaining: dict[int, dict[str, object]] = {}
    for line in dataset.lines:
        if line.group in remaining:
            continue
        count, sets = groups.counts[line.group], dataset.remaining(line.group)
        remaining[line.group] = {
            "number": int(groups.numbers[line.group]),
            "profiles": decimal_text(count.low) if count.exact else None,
            "profiles_low": decimal_text(count.low),
            "profiles_high": decimal_text(count.high),
            "remaining": {
                domain.attribute.name: level_names(domain, levels)
                for domain, levels in zip(domains, sets, strict=True)
                if levels != domain.everything
            },
            "none_of_the_rules_before": bool(joint_text(groups, line.group)),
        }
    document = {
        "format": FORMAT,
        "version": VERSION,
        "rows": dataset.n_rows,
        "profiles": decimal_text(groups.n_profiles),
        "groups_are": groups.noun,
        "attributes": [{"name": d.attribute.name, "levels": str(d.n_levels)} for d in domains],
        "groups": [remaining[group] for group in sorted(remaining)],
        "lines": [
            {"number": line.leaf, "class": line.label, "rows": line.rows} for line in dataset.lines
        ],
    }
    return json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)


def dataset_text(dataset: ProbabilisticDataset) -> str:
    """The dataset to read: what is known about the rows of every group."""
    groups = dataset.groups
    domains = groups.regions.domains
    out = [f"{dataset.n_rows:,} rows, {readable_number(groups.n_profiles)} possible profiles each"]
    lines = dataset.lines
    for line in lines[:_SHOWN]:
        sets = dataset.remaining(line.group)
        known = [
            f"{visible(domain.attribute.name)} = {remaining_text(domain, levels)}"
            for domain, levels in zip(domains, sets, strict=True)
            if levels != domain.everything
        ]
        joint = joint_text(groups, line.group)
        whose = "" if line.label is None else f" of class {visible(str(line.label))}"
        count = groups.counts[line.group]
        left = readable_number(count.low)
        if not count.exact:
            left += f" to {readable_number(count.high)}"
        what = "; ".join([*known, joint] if joint else known) or "nothing is known"
        out.append(
            f"{groups.noun} {line.leaf}: {line.rows:,} row{'s' if line.rows != 1 else ''}{whose}, "
            f"{left} profile{'s' if left != '1' else ''} left: {what}"
        )
    if len(lines) > _SHOWN:
        out.append(f"… and {len(lines) - _SHOWN:,} more groups of rows")
    return "\n".join(out)

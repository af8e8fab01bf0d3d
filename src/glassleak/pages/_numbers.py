"""Figures and values as people read them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

_DIGITS = re.compile(r"[+-]?\d{16,}")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)[\d:.]*(?:\+00:00|Z)")
_MOST_ITEMS = 12
NARROW_SPACE = "\u202f"


def number(value: float) -> str:
    """``1,234``, ``0.0312``, ``1.2 × 10⁻⁷``: thousands grouped, about four significant digits."""
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return "not a number" if math.isnan(value) else ("−∞" if value < 0 else "∞")
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e15 or size < 1e-4:
        mantissa, _, exponent = f"{value:.3e}".partition("e")
        return f"{_trim(mantissa)} × 10{_raised(int(exponent))}"
    if size >= 1000:
        return f"{value:,.0f}"
    return _trim(f"{value:.{max(0, 3 - math.floor(math.log10(size)))}f}")


def percent(share: float) -> str:
    """``12.3 %``; never "0 %" or "100 %" for what is neither."""
    if not math.isfinite(share):
        return number(share)
    if share in (0, 1):
        return f"{share:.0%}".replace("%", f"{NARROW_SPACE}%")
    shown = f"{_trim(f'{100 * share:.1f}')}"
    if shown == "0":
        shown = "< 0.1"
    elif shown == "100":
        shown = "> 99.9"
    return f"{shown}{NARROW_SPACE}%"


def value(item: Any, *, share: bool = False, levels: int = 4) -> str:
    """Any value of a record in one line; `share` shows numbers between 0 and 1 as percentages."""
    if item is None:
        return "not known"
    if isinstance(item, bool):
        return "yes" if item else "no"
    if isinstance(item, int | float):
        return percent(item) if share and 0 <= item <= 1 else number(item)
    if isinstance(item, str):
        return _long_integer(item) if _DIGITS.fullmatch(item) else item
    if not levels:
        return "…"
    if isinstance(item, Mapping):
        parts = [
            f"{key}: {value(inner, levels=levels - 1)}"
            for key, inner in list(item.items())[:_MOST_ITEMS]
        ]
        return _listed(parts, len(item))
    parts = [value(inner, share=share, levels=levels - 1) for inner in item[:_MOST_ITEMS]]
    return _listed(parts, len(item))


def short_number(amount: float) -> str:
    """For axes and labels of charts: ``48,842``, ``3.5M``, ``0.25``."""
    size = abs(amount)
    for unit, suffix in ((1e9, "G"), (1e6, "M")):
        if unit <= size < 1e15:
            return f"{_trim(f'{amount / unit:.1f}')}{suffix}"
    if 1000 <= size < 1e6:
        return f"{amount:,.0f}"
    # Three digits are enough beside a bar; the table has the rest.
    if 1e-4 <= size < 1e15:
        return _trim(f"{amount:.{max(0, 2 - math.floor(math.log10(size)))}f}")
    return number(float(amount))


def seconds(spent: float) -> str:
    """``0.2 s``, ``3 min 20 s``."""
    if spent < 0.05:
        return "under 0.1 s"
    if spent < 120:
        return f"{spent:.1f} s"
    return f"{int(spent // 60)} min {int(spent % 60)} s"


def moment(created: str) -> str:
    """``2026-11-16 18:25 UTC`` from ISO 8601; anything else as it is."""
    known = _MOMENT.fullmatch(created)
    return f"{known[1]} {known[2]} UTC" if known else created


def file_size(size: int) -> str:
    """``12.3 kB``."""
    for unit, limit in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= limit:
            return f"{_trim(f'{size / limit:.1f}')} {unit}"
    return f"{size} bytes"


def _listed(parts: list[str], total: int) -> str:
    more = f" and {total - len(parts):,} more" if total > len(parts) else ""
    return (", ".join(parts) + more) or "none"


def _long_integer(digits: str) -> str:
    sign = "−" if digits.startswith("-") else ""
    plain = digits.lstrip("+-").lstrip("0") or "0"
    if len(plain) < 16:
        return f"{sign}{int(plain):,}"
    return f"{sign}about {_trim(f'{plain[0]}.{plain[1:4]}')} × 10{_raised(len(plain) - 1)}"


def _raised(exponent: int) -> str:
    return str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def _trim(decimal: str) -> str:
    return decimal.rstrip("0").rstrip(".") if "." in decimal else decimal

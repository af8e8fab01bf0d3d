"""What ``glassleak train`` prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from glassleak.cli._common import output, say

if TYPE_CHECKING:
    from glassleak.learners.private import CurvePoint
    from glassleak.learners.private.verify import Verdict


@dataclass(frozen=True)
class Checked:
    """What verification found.

    Attributes
    ----------
    honest : tuple of Verdict
        Of the learner itself: none should be refuted.
    broken : tuple of Verdict
        Of the learner broken on purpose: all should be refuted.
    """

    honest: tuple[Verdict, ...] = ()
    broken: tuple[Verdict, ...] = ()

    @property
    def passed(self) -> bool:
        return not any(v.refuted for v in self.honest) and all(v.refuted for v in self.broken)


def document(learner: Any, checked: Checked) -> dict[str, Any]:
    """The result as JSON-ready data."""
    found: dict[str, Any] = {
        "learner": type(learner).__name__,
        "classes": learner.classes_.tolist(),
    }
    if hasattr(learner, "conditions_"):
        found |= {"rules": learner.rules_, "counts": learner.counts_.tolist()}
    if hasattr(learner, "noise_scale_"):
        found["noise_scale"] = learner.noise_scale_
    if hasattr(learner, "privacy_"):
        found |= {"privacy": learner.privacy_, "ledger": learner.ledger_}
        found["verification"] = [_line(v) for v in checked.honest]
        found["self_test"] = [_line(v) for v in checked.broken]
    else:
        found["privacy"] = None
    return found


def _line(verdict: Verdict) -> dict[str, Any]:
    return {
        "part": verdict.name, "unit": verdict.unit, "claim": verdict.claim,
        f"{verdict.unit}_at_least": verdict.bound.epsilon,
        "confidence": verdict.bound.confidence, "draws": verdict.bound.draws,
        "refuted": verdict.refuted,
    }  # fmt: skip


def show(learner: Any, checked: Checked, saved: str | None) -> None:
    """The model, its account, and what verification said."""
    console = output()
    for text in _texts(learner):
        console.print(escape(text), soft_wrap=True)
    if hasattr(learner, "privacy_"):
        _account(console, learner)
    else:
        console.print(
            "\n[bold]not private[/]: the counts are exact; see what they give away with glassleak "
            "audit before it is published"
        )
    for verdict in checked.honest:
        outcome = "[bold red]refuted[/]" if verdict.refuted else "not refuted"
        console.print(
            f"verified {verdict.name}: claims {verdict.unit} {verdict.claim:.4g}, at least "
            f"{verdict.bound.epsilon:.3f} in {verdict.bound.draws:,} draws: {outcome}"
        )
    for verdict in checked.broken:
        outcome = "caught" if verdict.refuted else "[bold red]not caught[/] (try more --draws)"
        console.print(
            f"broken on purpose, {verdict.name}: claims {verdict.claim:g}, at least "
            f"{verdict.bound.epsilon:.3f}: {outcome}"
        )
    if saved:
        say(console, f"wrote {saved}")


def _texts(learner: Any) -> list[str]:
    trees = getattr(learner, "estimators_", None)
    if trees is None:
        return [learner.to_text()]
    return [f"tree {i + 1}\n{tree.to_text()}" for i, tree in enumerate(trees)]


def _account(console: Console, learner: Any) -> None:
    privacy = learner.privacy_
    unit = "rho" if "rho" in privacy else "epsilon"
    kind = (
        f"δ = {privacy['delta']:g} (ρ = {privacy['rho']:.4g})" if unit == "rho" else "pure (δ = 0)"
    )
    console.print(
        f"\n[bold]ε = {privacy['epsilon']:.6g}[/], {kind}, against {privacy['neighbours']}"
    )
    if unit == "rho":
        console.print("in ρ, everybody in every tree:")
    elif hasattr(learner, "estimators_"):
        console.print("every tree, each on its own people:")
    for line in learner.ledger_:
        console.print(f"  {line[unit]:<8.4g} {line['what']} ({line['mechanism']})")
    console.print("it holds if")
    for assumption in privacy["assumptions"]:
        console.print(f"  • {escape(assumption)}")


def show_curve(points: Sequence[CurvePoint]) -> None:
    """Accuracy by epsilon, with bars."""
    shown = Table(box=None, padding=(0, 2, 0, 0))
    for heading in ("epsilon", "test accuracy", "± of the mean", "worst run", ""):
        shown.add_column(heading, justify="right" if heading else "left")
    for point in points:
        bar = "█" * round(40 * max(0.0, point.accuracy - 0.5) * 2)
        shown.add_row(f"{point.epsilon:g}", f"{point.accuracy:.4f}", f"{point.error:.4f}",
                      f"{point.worst:.4f}", bar)  # fmt: skip
    console = output()
    console.print(shown)
    console.print("[dim]not private: these numbers looked at the data without paying for it[/]")

"""An audit on a terminal: the decision first, then why, then what nobody looked at.

Everything that may come from the model is shown as `Text`, never as markup: names in a stranger's
file must not style, hide or forge what the report says.
"""

from __future__ import annotations

from rich.console import Console, Group
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from glassleak._printable import printable
from glassleak.audit import AnalysisResult, Audit, Finding
from glassleak.models import Forest, RuleList

_COLOURS = {"release": "green", "fix": "red", "refer": "yellow", "not assessed": "magenta"}
_MEANING = {
    "release": "nothing the policy forbids was found, and every question it needs was answered",
    "fix": "do not publish this as it is; the findings below say what to change",
    "refer": "a person has to decide; the reasons are below",
    "not assessed": "glassleak cannot judge this model, which says nothing about its risk",
}
_MARKS = {"refer": ("!", "bold yellow"), "fix": ("✗", "bold red"), "note": ("·", "dim")}
_BAGGING = {
    "none": "every tree saw every row",
    "known": "rows drawn per tree are known",
    "unknown": "rows drawn per tree are not known",
}
_SHOWN = 12


def print_audit(audit: Audit, console: Console) -> None:
    """Show `audit` on `console`."""
    console.print(_verdict(audit))
    console.print(_facts(audit))
    for effect, heading in (("refer", "Needs a decision"), ("fix", "To fix"), ("note", "Noted")):
        findings = [f for f in audit.findings if f.effect == effect]
        if findings:
            console.print(f"\n[bold]{heading}[/]")
            for finding in findings[:_SHOWN]:
                console.print(_finding(finding))
            if len(findings) > _SHOWN:
                console.print(f"  … and {len(findings) - _SHOWN} more; --json has them all")
    _print_coverage(audit, console)


def _verdict(audit: Audit) -> Panel:
    colour = _COLOURS[audit.verdict]
    lines: list[Text] = [
        Text.assemble((audit.verdict.upper(), f"bold {colour}"), f" — {_MEANING[audit.verdict]}")
    ]
    findings = [r for r in audit.reasons if r.finding is not None]
    lines += [Text(f"• {printable(r.text)}") for r in (findings or list(audit.reasons))[:4]]
    more = len(findings) - 4
    if more > 0:
        lines.append(Text(f"  and {more} more below", style="dim"))
    return Panel(Group(*lines), title=Text(printable(audit.opened.name)), border_style=colour)


def _facts(audit: Audit) -> Table:
    opened, model = audit.opened, audit.opened.model
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column()

    def add(name: str, fact: object) -> None:
        table.add_row(name, Text(printable(fact)))

    if model is None:
        add("model", opened.problem)
    else:
        provenance = model.provenance
        origin = " ".join(p for p in (provenance.library, provenance.library_version) if p)
        kind = provenance.estimator or type(model).__name__
        add("model", f"{kind} ({origin})" if origin else kind)
        if isinstance(model, Forest):
            add("trees", f"{len(model):,}")
            add("bagging", _BAGGING[model.bagging.kind])
        elif isinstance(model, RuleList):
            add("rules", f"{len(model):,}")
        add("training rows", f"{model.n_rows:,}" if model.n_rows is not None else "not published")
        add("columns, classes", f"{len(model.columns):,}, {len(model.classes):,}")
    if opened.sha256:
        add("SHA-256", opened.sha256)
    if opened.protection:
        add("sandbox", ", ".join(opened.protection))
    add("policy", _policy(audit))
    return table


def _policy(audit: Audit) -> str:
    """The name, the size of groups, and whatever is not the default."""
    told = [
        f"{t['name']}={t['value']}"
        for t in audit.policy.to_document()
        if t["name"] == "min_people" or t["value"] != t["default"]
    ]
    return f"{audit.policy.name} ({', '.join(told)})"


def _finding(finding: Finding) -> Table:
    # A grid and not spaces: wrapped lines must stay under the text they belong to.
    title = Text(printable(finding.title), style="" if finding.effect == "note" else "bold")
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=3, justify="right", no_wrap=True)
    grid.add_column()
    grid.add_row(Text.assemble(_MARKS[finding.effect]), title)
    if finding.detail:
        grid.add_row("", Text(printable(finding.detail, 2000)))
    if finding.remedy:
        grid.add_row(Text("→", style="cyan"), Text(printable(finding.remedy, 2000), style="cyan"))
    return grid


def _print_coverage(audit: Audit, console: Console) -> None:
    table = Table(
        title="\nWhat was asked", title_justify="left", title_style="bold", box=None,
        padding=(0, 2), show_header=False,
    )  # fmt: skip
    table.add_column()
    table.add_column()
    table.add_column(justify="right", style="dim")
    for analysis, result in audit.outcomes:
        table.add_row(Text(analysis.question), _status(result), f"{result.seconds:.1f} s")
    console.print(table)
    for assumption in dict.fromkeys(a for _, r in audit.outcomes for a in r.assumptions):
        console.print(Text(f"  assumed: {printable(assumption)}", style="dim"))


def _status(result: AnalysisResult) -> Text:
    colour = {"done": "green", "partial": "yellow", "failed": "red"}.get(result.status, "magenta")
    text = Text(result.status, style=colour)
    if result.reason:
        text.append(f": {printable(result.reason)}", style="dim")
    return text

"""The first page: the decision, why, what to do next, and which questions are open."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from glassleak.pages._actions import actions
from glassleak.pages._anchors import Anchors
from glassleak.pages._marks import effect_badge, shape, status_badge, tone
from glassleak.pages._markup import Child, Html, tag
from glassleak.pages._numbers import number
from glassleak.pages._prose import prose, sentence, shortened
from glassleak.pages._table import facts
from glassleak.pages._words import load, word

# The summary is to fit on one printed page.
_REASONS, _ACTIONS, _SHORT = 6, 4, 220


def summary(document: Mapping[str, Any], places: Anchors) -> Html:
    """Everything somebody with one minute has to see."""
    decision = document["verdict"]["decision"]
    return tag(
        "section",
        tag(
            "div",
            shape(decision),
            tag(
                "div",
                tag("p", "Decision", class_="over"),
                tag("h2", word_of(decision), id="decision"),
                tag("p", load("words")["decision"][decision]["meaning"], class_="meaning"),
                _problem(document),
                _gap(document),
            ),
            class_=f"verdict {tone(decision)}",
        ),
        tag("div", _why(document, places), _next(document, places), class_="columns"),
        _questions(document, places),
        tag("h3", "What was audited"),
        model_facts(document),
        class_="summary",
        aria_labelledby="decision",
    )


def _problem(document: Mapping[str, Any]) -> Html | None:
    """Why the model could not be read, if it could not."""
    problem = document["model"]["problem"]
    return tag("p", sentence(shortened(problem, 300)), class_="meaning") if problem else None


def _gap(document: Mapping[str, Any]) -> Html | None:
    """How much is open, beside the decision: a release without it would read as an all-clear."""
    total = len(document["analyses"])
    unanswered = sum(a["status"] != "done" for a in document["analyses"])
    if not unanswered:
        return None
    verb = "was" if unanswered == 1 else "were"
    words = f"{unanswered} of {total} questions {verb} not, or not fully, answered."
    return tag("p", tag("a", words, href="#not-assessed"), class_="meaning")


def word_of(decision: str) -> str:
    """The decision as one writes it."""
    return str(load("words")["decision"][decision]["word"])


def _why(document: Mapping[str, Any], places: Anchors) -> Html:
    reasons = document["verdict"]["reasons"]
    effects = {
        places.findings[i, j]: finding["effect"]
        for i, analysis in enumerate(document["analyses"])
        for j, finding in enumerate(analysis["findings"])
    }
    asked = {a["id"]: (a["question"], a["status"]) for a in document["analyses"]}
    lines: list[Child] = []
    for reason in reasons[:_REASONS]:
        place = places.of_reason(reason)
        effect = effects.get(place) if reason["finding"] is not None else None
        question, status = asked.get(reason["analysis"], ("", "not assessed"))
        # Why a question is open stands in the list of questions, and in full where the link leads.
        brief = question and effect is None and reason["text"].startswith(question)
        words = question if brief else reason["text"]
        link = tag("a", prose(shortened(words, _SHORT)), href=f"#{place}")
        badge = effect_badge(effect) if effect else status_badge(status)
        lines.append(tag("li", link, " ", badge))
    if not lines:
        lines = [tag("li", "No finding stands against a release under this policy.")]
    more = len(reasons) - _REASONS
    after = tag("p", f"and {more} more under ", tag("a", "What was found", href="#found"))
    return tag("div", tag("h3", "Why"), tag("ul", lines, class_="reasons"),
               after if more > 0 else None)  # fmt: skip


def _next(document: Mapping[str, Any], places: Anchors) -> Html:
    found = actions(document, places)
    steps: list[Child] = [
        tag("li", sentence(shortened(a.remedy, _SHORT))) for a in found[:_ACTIONS]
    ]
    decision = document["verdict"]["decision"]
    steps += [tag("li", words) for words in load("words")["decision"][decision]["next"]]
    more = len(found) - _ACTIONS
    after = tag("p", f"and {more} more under ", tag("a", "What to do", href="#to-do"))
    return tag("div", tag("h3", "What to do next"), tag("ol", steps), after if more > 0 else None)


def _questions(document: Mapping[str, Any], places: Anchors) -> Html:
    analyses = document["analyses"]
    rows = [
        tag(
            "tr",
            tag("th", tag("a", a["question"], href=f"#{places.sections[i]}"), scope="row"),
            tag("td", status_badge(a["status"])),
            tag("td", _answer(a, document["model"]["problem"])),
        )
        for i, a in enumerate(analyses)
    ]
    return tag(
        "div",
        tag("h3", "Questions asked"),
        tag("table", tag("tbody", rows), class_="questions"),
    )  # fmt: skip


def _answer(analysis: Mapping[str, Any], problem: str | None) -> Child:
    effects = Counter(finding["effect"] for finding in analysis["findings"])
    parts = []
    if effects["refer"]:
        parts.append(f"{effects['refer']} to decide")
    if effects["fix"]:
        parts.append(f"{effects['fix']} to fix")
    if effects["note"]:
        parts.append(f"{effects['note']} for information")
    if analysis["status"] != "done" and problem and analysis["reason"] == problem:
        return "the model could not be read"
    if analysis["status"] != "done":
        found = f"{', '.join(parts)}; " if parts else ""
        return prose(found + shortened(analysis["reason"], 100))
    return ", ".join(parts) or "nothing found"


def in_a_line(document: Mapping[str, Any]) -> str:
    """What kind of model it is, in a few words."""
    model = document["model"]
    if not model["supported"]:
        return "A model of a kind that is not supported"
    kind = word("kind", model["kind"])
    parts = [f"{model['estimator']}: {kind}" if model.get("estimator") else kind.capitalize()]
    if model.get("trees"):
        parts[0] += f" ({number(model['trees'])} trees)"
    if model.get("rules"):
        parts[0] += f" ({number(model['rules'])} rules)"
    if model["rows"] is not None:
        parts.append(f"{number(model['rows'])} training rows")
    return ", ".join([*parts, f"{number(model['columns'])} columns"])


def model_facts(document: Mapping[str, Any]) -> Html:
    """What was audited, as far as it is known."""
    model = document["model"]
    pairs: list[tuple[str, Child]] = []
    if model["supported"]:
        estimator = model.get("estimator") or ""
        library = word("library", model.get("library") or "")
        origin = " ".join(p for p in (library, model.get("library_version")) if p)
        kind = word("kind", model["kind"])
        pairs.append(("Model", f"{estimator or kind} ({origin})" if origin else estimator or kind))
        pairs.append(("Kind", _kind(model, kind)))
        rows = model["rows"]
        pairs.append(("Training rows", "not published" if rows is None else number(rows)))
        pairs.append(("Columns, classes",
                      f"{number(model['columns'])}, {number(len(model['classes']))}"))  # fmt: skip
        pairs.append(("Counts", word("counts", model["counts"])))
    else:
        pairs.append(("Problem", sentence(str(model["problem"]))))
    pairs.append(("SHA-256", tag("code", model["sha256"]) if model["sha256"]
                  else "none: the model was an object in memory"))  # fmt: skip
    return facts(pairs)


def _kind(model: Mapping[str, Any], kind: str) -> str:
    if model.get("trees"):
        return f"{kind}: {number(model['trees'])} trees, {word('bagging', model['bagging'])}"
    if model.get("rules"):
        return f"{kind}: {number(model['rules'])} rules"
    return kind

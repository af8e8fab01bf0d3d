"""Figures 1 to 4 and 6, and Table 1."""

from __future__ import annotations

import functools
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glassleak.papers._paper import Options, Output
from glassleak.papers._plot import GREY, SHADES, panels, plain_ticks
from glassleak.papers._run_log import Record
from glassleak.papers._sheet import Column, Sheet
from glassleak.papers.dp import _setting as setting
from glassleak.papers.dp._execute import ROC_RATES, carry_out
from glassleak.papers.dp._setting import COMPARED, DATASETS, NAMES, TITLES, Learner, Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Table 1: vulnerability and accuracy as printed, at epsilon 10.
PRINTED = {
    ("compas", "greedy"): (0.507, 0.660),
    ("compas", "smooth-laplace"): (0.507, 0.658),
    ("german", "greedy"): (0.524, 0.711),
    ("german", "smooth-laplace"): (0.516, 0.683),
    ("adult", "greedy"): (0.502, 0.798),
    ("adult", "smooth-laplace"): (0.502, 0.795),
}
_NOTES = tuple(
    """\
Rules are all conjunctions of up to two conditions; the paper's program mines them from the \
private table, which no budget pays for.
Length 5 is four rules and the default rule.  The tables are glassleak's own versions of the \
datasets, not the authors' files.
'glassleak, certified' is pure epsilon-DP with proof; the others are as published, approximate and \
not certified.""".splitlines()
)


def table_1(options: Options, log: Path) -> Output:
    """Accuracy and vulnerability at epsilon 10."""
    learners: tuple[Learner, ...] = ("smooth-laplace", "certified")
    results = carry_out(setting.curves(DATASETS, learners, (10.0,), options), options, log)
    rows = []
    for run, record in results.items():
        printed = PRINTED.get((run.dataset, run.learner), (None, None))
        rows.append(
            {"dataset": TITLES[run.dataset], "learner": NAMES[run.learner],
             "printed_vulnerability": printed[0], "printed_accuracy": printed[1]}
            | {k: record[k] for k in ("vulnerability", "by_chance", "accuracy", "accuracy_error")}
        )  # fmt: skip
    rows.sort(key=lambda row: str(row["dataset"]))
    columns = (
        Column("dataset", "dataset"),
        Column("learner", "list"),
        Column("printed_vulnerability", "V: paper", "share"),
        Column("vulnerability", "V: ours", "error"),
        Column("by_chance", "V by chance", "error"),
        Column("printed_accuracy", "accuracy: paper", "share"),
        Column("accuracy", "ours", "error"),
        Column("accuracy_error", "±", "error"),
    )
    note = (
        "V by chance is what the same outputs give when membership is shuffled: on finite samples "
        "V is above 0.5 even if there is nothing to find."
    )
    title = f"Table 1: vulnerability and accuracy at ε = 10, {setting.runs_of(options)} runs"
    return Output(Sheet(title, columns, tuple(rows), (*_NOTES, note)))


def figure_1(_options: Options, _log: Path) -> Output:
    """Noise of the Laplace mechanism under global and smooth sensitivity, epsilon 1."""
    from glassleak.learners.private.published import smooth_sensitivity

    epsilon = 1.0
    rows = []
    for n in (10, 30, 100, 300, 1000, 3000, 10_000, 30_000):
        delta = 1 / n**2
        beta = epsilon / (2 * math.log(2 / delta))
        smooth = 2 * smooth_sensitivity(n, beta, max(1, int(0.05 * n))) / epsilon
        rows.append({"people": n, "global": 0.5 / epsilon, "smooth": smooth,
                     "certified": 2 / (n * epsilon)})  # fmt: skip
    columns = (
        Column("people", "people left", "count"),
        Column("global", "global", "error"),
        Column("smooth", "smooth", "error"),
        Column("certified", "glassleak", "error"),
    )
    note = (
        "Scale of the noise on the Gini impurity of one rule (epsilon 1 for one choice, lambda "
        "0.05, delta 1/n²).  For glassleak: epsilon 1 on n · Gini / 2, whose sensitivity is 1, "
        "is noise of scale 2 / n on the impurity."
    )
    sheet = Sheet("Figure 1: noise by number of people", columns, tuple(rows), (note,))

    def draw() -> Figure:
        figure, (panel,) = panels(1, width=5)
        n = [row["people"] for row in rows]
        for key, colour in (("global", SHADES[0]), ("smooth", SHADES[2]), ("certified", SHADES[5])):
            panel.plot(n, [row[key] for row in rows], "-o", color=colour, label=key)
        panel.set(xlabel="people no rule captured yet", ylabel="scale of the noise",
                  xscale="log", yscale="log")  # fmt: skip
        panel.legend()
        return figure

    return Output(sheet, draw)


def accuracy_figure(
    number: int,
    chosen: tuple[str, ...],
    learners: tuple[Learner, ...],
    epsilons: tuple[float, ...],
    options: Options,
    log: Path,
) -> Output:
    """Test accuracy by epsilon."""
    shown = setting.epsilons_of(options, epsilons)
    results = carry_out(setting.curves(chosen, learners, shown, options), options, log)
    columns = (
        Column("dataset", "dataset"),
        Column("learner", "list"),
        *(Column(f"e{e:g}", f"ε = {e:g}", "share") for e in shown),
        Column("plain", "not private", "share"),
    )
    rows = tuple(_line(results, d, a, shown) for d in chosen for a in learners)
    title = f"Figure {number}: test accuracy by ε, {setting.runs_of(options)} runs"
    sheet = Sheet(title, columns, rows, _NOTES)
    return Output(sheet, lambda: _draw_accuracy(results, chosen, learners, shown))


figure_2 = functools.partial(
    accuracy_figure, 2, ("compas",), ("noisy-counts", "global-laplace"), setting.FIGURE_2_EPSILONS
)
figure_3 = functools.partial(accuracy_figure, 3, DATASETS, COMPARED, setting.EPSILONS)
figure_4 = functools.partial(
    accuracy_figure, 4, ("german", "adult"), ("noisy-counts", "global-laplace"),
    setting.FIGURE_2_EPSILONS,
)  # fmt: skip


def figure_6(options: Options, log: Path) -> Output:
    """Membership inference at low rates of wrong accusations."""
    learners: tuple[Learner, ...] = ("smooth-laplace", "certified")
    results = carry_out(setting.curves(DATASETS, learners, (10.0,), options), options, log)
    rows = tuple(
        {"dataset": TITLES[run.dataset], "learner": NAMES[run.learner]}
        | {f"r{rate:g}": share for rate, share in zip(ROC_RATES, record["roc"], strict=True)}
        for run, record in sorted(results.items(), key=lambda item: item[0].dataset)
    )
    columns = (
        Column("dataset", "dataset"),
        Column("learner", "list"),
        *(Column(f"r{rate:g}", f"at {rate:g}", "error") for rate in ROC_RATES),
    )
    note = (
        "Share of members found while at most this share of others is wrongly accused (mean over "
        "runs), by the probability the list gives to a person's own class.  Equal to the rate: "
        "guessing.  The paper trains its attack with ART on half of the data; this one needs no "
        "training."
    )
    sheet = Sheet("Figure 6: membership inference, ε = 10", columns, rows, (note,))

    def draw() -> Figure:
        figure, axes = panels(len(DATASETS))
        for panel, dataset in zip(axes, DATASETS, strict=True):
            mine = [(r, rec) for r, rec in results.items() if r.dataset == dataset]
            for (run, record), colour in zip(mine, (GREY, SHADES[2], SHADES[5]), strict=True):
                panel.plot(ROC_RATES, record["roc"], "-o", color=colour, label=NAMES[run.learner])
            panel.plot(ROC_RATES, ROC_RATES, ":", color=GREY, label="guessing")
            panel.set(title=TITLES[dataset], xscale="log", yscale="log", xlabel="wrongly accused")
        axes[0].set_ylabel("members found")
        axes[0].legend()
        return figure

    return Output(sheet, draw)


def _find(results: dict[Run, Record], **fields: Any) -> Record | None:
    for run, record in results.items():
        if all(getattr(run, k) == v for k, v in fields.items()):
            return record
    return None


def _line(
    results: dict[Run, Record], dataset: str, learner: Learner, shown: tuple[float, ...]
) -> dict[str, Any]:
    plain = _find(results, dataset=dataset, learner="greedy")
    row: dict[str, Any] = {
        "dataset": TITLES[dataset],
        "learner": NAMES[learner],
        "plain": plain["accuracy"] if plain else None,
    }
    for e in shown:
        found = _find(results, dataset=dataset, learner=learner, epsilon=e)
        row[f"e{e:g}"] = found["accuracy"] if found else None
    return row


def _draw_accuracy(
    results: dict[Run, Record],
    chosen: tuple[str, ...],
    learners: tuple[Learner, ...],
    shown: tuple[float, ...],
) -> Figure:
    figure, axes = panels(len(chosen))
    for panel, dataset in zip(axes, chosen, strict=True):
        for i, learner in enumerate(learners):
            records = [_find(results, dataset=dataset, learner=learner, epsilon=e) for e in shown]
            points = [(e, r) for e, r in zip(shown, records, strict=True) if r is not None]
            panel.errorbar(
                [e for e, _ in points], [r["accuracy"] for _, r in points],
                yerr=[2 * r["accuracy_error"] for _, r in points], fmt="-o", capsize=2,
                color=SHADES[5] if learner == "certified" else SHADES[i % 5],
                linewidth=2.5 if learner == "certified" else 1.2, label=NAMES[learner],
            )  # fmt: skip
        plain = _find(results, dataset=dataset, learner="greedy")
        if plain is not None:
            panel.axhline(plain["accuracy"], color=GREY, linestyle=":", label="not private")
        panel.set(title=TITLES[dataset], xlabel="ε", xscale="log")
        plain_ticks(panel.xaxis, shown)
    axes[0].set_ylabel("test accuracy")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4)
    return figure

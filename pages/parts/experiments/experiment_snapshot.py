"""The data of an experiment's board, live or stored, and the final numbers of the arms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import fmean
from typing import Any

import numpy as np

from engine.experiments.bounds import is_share
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import Row
from engine.experiments.long_runs import read_long_runs
from engine.experiments.report import Report
from engine.experiments.running.experiment_run import ExperimentRun, RunningTrial
from engine.experiments.trial import Curve, Trial, curves_of
from pages.parts.boards.component import Json
from pages.parts.charts.base import figure_json
from pages.parts.charts.experiments.arms import role_color, role_colors, stem, with_unit
from pages.parts.charts.experiments.learning import LearningCurve
from pages.parts.charts.experiments.over_x import OverX, over_x_figure, over_x_height
from pages.parts.charts.experiments.strip import EndNumbers, strip_figure, strip_height


def levels_of(trials: Sequence[Trial], curve: str) -> dict[str, float]:
    """Level lines by label: chance, where all these trials have the same, and the floor of a loss."""
    metric = curve.removeprefix("validation.")
    chance = {round(t.number(f"chance.{metric}"), 4) for t in trials if f"chance.{metric}" in t.numbers}
    floor = {round(t.number("floor"), 4) for t in trials if "floor" in t.numbers}
    levels = {f"chance {value:.3g}": value for value in chance} if len(chance) == 1 else {}
    if metric == "loss" and len(floor) == 1:
        levels |= {f"floor {value:.3g}": value for value in floor if value > 0}
    return levels


@dataclass(frozen=True)
class TrialSoFar:
    arm: str
    seed: int
    share: float
    read_curves: Callable[[], dict[str, Curve]] = dict
    queue_position: int | None = None
    machine: str = ""  # empty for the app's own machine

    @cached_property
    def curves(self) -> dict[str, Curve]:
        # Read when first needed, because not every board shows curves.
        return self.read_curves()


@dataclass(frozen=True)
class ExperimentSnapshot(Report):
    state: str = "waiting"
    """A run's state, or else: ``waiting`` before the first run; ``none`` without a status line; ``class`` while
    participants train the seeds; ``kept`` for stored evidence; ``shipped`` for evidence of this version."""
    running: Sequence[TrialSoFar] = ()
    share_done: float = 1.0
    seconds_left: float | None = None
    problem: str = ""
    participants_to_begin: int = 0  # those who have not begun to train their seeds

    @classmethod
    def of(cls, report: Report, state: str, **so_far: Any) -> ExperimentSnapshot:
        return cls(**vars(report), state=state, **so_far)

    @property
    def origin(self) -> str:
        return "stored" if self.state == "shipped" else "live"

    @property
    def name(self) -> str:
        return f"{self.experiment.slug}-stored" if self.origin == "stored" else self.experiment.slug

    @property
    def trained_arms(self) -> list[Arm]:
        """The arms with a curve: arms of one step are measured at their initial weights."""
        return [arm for arm in self.arms if self.experiment.config(arm).steps > 1]

    @property
    def has_curves(self) -> bool:
        return bool(self.trained_arms) and (self.state == "running" or any(trial.curves for trial in self.trials))

    @property
    def stamp(self) -> tuple[object, ...]:
        """A value that changes with each new thing to draw."""
        running = tuple((trial.arm, trial.seed, trial.share, trial.queue_position) for trial in self.running)
        return self.state, len(self.trials), running, self.participants_to_begin, self.seconds


def snapshot_of(run: ExperimentRun) -> ExperimentSnapshot:
    # Read before the report: a trial that ends between the reads is shown twice at worst, and is never missing.
    running, state, report = run.running_trials, run.state, run.report
    final = {(trial.arm, trial.seed) for trial in report.trials}
    so_far = [
        TrialSoFar(
            one.arm.name, one.seed, one.share, partial(_curves_so_far, one, run.experiment), one.run.queue_position, one.run.machine
        )
        for one in running
        if (one.arm.name, one.seed) not in final
    ]  # fmt: skip
    return ExperimentSnapshot.of(
        report, state, running=so_far, share_done=run.share_done, seconds_left=run.seconds_left, problem=run.problem
    )


def _curves_so_far(trial: RunningTrial, experiment: Experiment) -> dict[str, Curve]:
    return curves_of(trial.events, experiment.curves)


# The final numbers of the arms: rows of points, and lines over x


def final_section(snapshot: ExperimentSnapshot) -> Json:
    rows = {arm.name: row_of(snapshot, arm) for arm in snapshot.arms}
    metrics = dict.fromkeys(arm.metric for arm in snapshot.arms)
    panels = [*(panel for metric in metrics for panel in _panels(snapshot, metric, rows)), *_panels_of_points(snapshot)]
    lines = any(not panel["id"].startswith("strip.") for panel in panels)
    return {
        "id": "ended", "title": "Final values",
        "note": "One point per seed; the bar is their mean." + (" In a line, small marks are seeds." if lines else ""),
        "panels": panels, "width": 420,
    }  # fmt: skip


def _panels(snapshot: ExperimentSnapshot, metric: str, rows: dict[str, EndNumbers]) -> Iterator[Json]:
    arms = [arm for arm in snapshot.arms if arm.metric == metric]
    label = with_unit(metric)
    named = {arm.name for arm in arms}
    levels = levels_of([trial for trial in snapshot.trials if trial.arm in named], metric)
    chance = next((value for name, value in levels.items() if name.startswith("chance")), None)
    points = Counter(line for line, _ in {(arm.line, arm.x) for arm in arms if arm.line and arm.x is not None})
    # A line of one point would be a mark among others at the same x: its arm is a row.
    along = [arm for arm in arms if points[arm.line] > 1]
    lines, alone = _lines_of(along, rows), [arm for arm in arms if arm not in along]
    if lines:
        name, x_label = f"line.{metric}", snapshot.experiment.x_label or "x"
        drawn = figure_json(over_x_figure, lines, x_label, label, chance)
        in_line = [rows[arm.name] for arm in along]
        yield _panel(name, f"{label} over {in_a_sentence(x_label)}", over_x_height(lines), label, in_line, drawn)
    if alone:
        name = f"strip.{metric}"
        compared = beside(snapshot, alone, metric)
        in_rows = [
            row for arm in compared if (row := row_of(snapshot, arm, metric)).known or arm in alone or not row.n_without
        ]
        drawn = figure_json(strip_figure, in_rows, label, chance)
        yield _panel(name, label, strip_height(in_rows), label, in_rows, drawn)


def _panels_of_points(snapshot: ExperimentSnapshot) -> Iterator[Json]:
    """The panels of the arms whose every trial gives a whole line, such as the accuracy at each test length."""
    x_label = snapshot.experiment.x_label or "x"
    kinds = dict.fromkeys(stem(arm.points[0][1]) for arm in snapshot.arms if arm.points)
    for kind in kinds:
        arms = [arm for arm in snapshot.arms if arm.points and stem(arm.points[0][1]) == kind]
        colors = role_colors([arm.role for arm in arms])
        lines = [
            OverX(arm.name, color, {x: row_of(snapshot, arm, metric) for x, metric in arm.points})
            for arm, color in zip(arms, colors, strict=True)
        ]
        label, name = with_unit(kind), f"points.{kind}"
        drawn = figure_json(over_x_figure, lines, x_label, label)
        ends = [line.points[max(line.points)] for line in lines]
        words = f"{label} at the last {in_a_sentence(x_label)}"
        yield _panel(name, f"{label} over {in_a_sentence(x_label)}", over_x_height(lines), words, ends, drawn)


def in_a_sentence(label: str) -> str:
    return label[:1].lower() + label[1:] if label[1:2].islower() else label


def _panel(name: str, title: str, height: int, label: str, rows: Sequence[EndNumbers], drawn: Json) -> Json:
    in_words = (
        f"{row.name} {fmean(row.known):.3g} on average over {len(row.known)} seeds" if row.known else f"{row.name} no value yet"
        for row in rows
    )  # fmt: skip
    titled, alt = title[:1].upper() + title[1:], f"{label}: {'; '.join(in_words)}"
    return {"id": name, "title": titled, "height": height, "alt": alt, "figure": drawn}


def row_of(report: Report, arm: Arm, metric: str = "", name: str = "") -> EndNumbers:
    metric = metric or arm.metric
    by_seed = {trial.seed: trial for trial in report.trials if trial.arm == arm.name}
    values = [by_seed[seed].numbers.get(metric) if seed in by_seed else None for seed in report.seeds]
    n_without = sum(metric not in trial.numbers for trial in by_seed.values())
    return EndNumbers(name or arm.name, role_color(arm.role), values, report.seeds, n_without)


def key_numbers(issue: Issue, report: Report, *, whole: bool = True) -> Json:
    """The arguments of :func:`key_figure`. ``whole``: all rows, not only the two that the question compares."""
    figure = issue.key_figure
    there = figure.rows if whole else (figure.before, figure.after)
    rows = [row_of(report, issue.arm(row.arm), row.metric, row.label) for row in there]
    rows[:2] = replace(rows[0], beside=rows[1].values), replace(rows[1], beside=rows[0].values)
    metric, arms = figure.before.metric, {row.arm for row in figure.rows}
    levels = levels_of([trial for trial in report.trials if trial.arm in arms], metric)
    return {
        "rows": rows, "format_value": figure.format_value,
        "share": is_share(metric) and all(0 <= value <= 1 for row in rows for value in row.known),
        "chance": next((value for name, value in levels.items() if name.startswith("chance")), None),
    }  # fmt: skip


def key_curves(issue: Issue, snapshot: ExperimentSnapshot, *, stored: bool, whole: bool = True) -> list[LearningCurve]:
    """The rows of a key figure along training; empty where the two compared rows have no long runs.

    ``stored``: draw the long runs, not only their axis. ``whole``: as in :func:`key_numbers`.
    """
    figure, runs = issue.key_figure, read_long_runs(issue)
    if not {(row.arm, row.metric) for row in (figure.before, figure.after)} <= runs.keys():
        return []
    there = figure.rows if whole else (figure.before, figure.after)
    curves = []
    for row in there:
        color, live = role_color(issue.arm(row.arm).role), _live_curves(issue, snapshot, row)
        if long_run := runs.get((row.arm, row.metric)):
            spread = zip(*(over(long_run.values, axis=0).tolist() for over in (np.min, np.mean, np.max)), strict=True)
            curves.append(LearningCurve(row.label, color, long_run.steps, tuple(spread) if stored else (), live))
    return curves


def _live_curves(issue: Issue, snapshot: ExperimentSnapshot, row: Row) -> dict[int, Curve]:
    if snapshot.origin != "live":
        return {}
    steps, name = issue.config(issue.arm(row.arm)).steps, f"validation.{row.metric}"
    curves = {trial.seed: trial.curves.get(name, []) for trial in snapshot.running if trial.arm == row.arm}
    for trial in snapshot.trials:
        if trial.arm == row.arm:
            # A metric without a curve is known only at the end of a trial.
            end = [(steps, trial.numbers[row.metric])] if row.metric in trial.numbers else []
            curves[trial.seed] = trial.curves.get(name) or end
    return {seed: curve for seed, curve in curves.items() if curve}


def beside(report: Report, arms: Sequence[Arm], metric: str) -> list[Arm]:
    """The arms, each after those that a claim compares it with by this metric."""
    together: dict[str, Arm] = {}
    for arm in arms:
        for row in report.claims:
            names = [name for name, by in row.claim.numbers if by == metric]
            if len(names) == 2 and arm.name in names:
                together |= {name: report.experiment.arm(name) for name in names if name != arm.name}
        together[arm.name] = arm
    return list(together.values())


def _lines_of(arms: Sequence[Arm], rows: dict[str, EndNumbers]) -> list[OverX]:
    of_line: dict[str, list[Arm]] = {}
    for arm in arms:
        of_line.setdefault(arm.line, []).append(arm)
    colors = role_colors([of_one[0].role for of_one in of_line.values()])
    return [
        OverX(line, color, {float(arm.x): rows[arm.name] for arm in of_one if arm.x is not None})
        for (line, of_one), color in zip(of_line.items(), colors, strict=True)
    ]

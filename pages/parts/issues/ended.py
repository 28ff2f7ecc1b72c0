"""Where the arms of an experiment ended: a section for each number that arms are reported by."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from engine.issues.issue import Arm
from pages.parts.figures.arms import metric_label, role_color
from pages.parts.figures.strip import Ended, OverX, over_x_figure, strip_figure, strip_height
from pages.parts.issues.plain import Plain, Remember, levels_of
from pages.parts.issues.shown import Shown

LINE_HEIGHT = 300


def ended_sections(shown: Shown, remember: Remember) -> list[Plain]:
    """Arms side by side as rows, and those that belong together as lines over x."""
    return [_section(shown, metric, remember) for metric in dict.fromkeys(arm.metric for arm in shown.arms)]


def _section(shown: Shown, metric: str, remember: Remember) -> Plain:
    arms = [arm for arm in shown.arms if arm.metric == metric]
    rows = {arm.name: _row_of(shown, arm) for arm in arms}
    label, stamp = metric_label(metric), (len(shown.trials), len(shown.seeds))
    levels = levels_of(shown.trials, metric)
    chance = next((value for name, value in levels.items() if name.startswith("chance")), None)
    lines, alone = _lines_of(arms, rows), [rows[arm.name] for arm in arms if not arm.line or arm.x is None]
    panels, x_label = list[Plain](), shown.issue.x_label or "x"
    if lines:
        name = f"line.{metric}"
        drawn = remember(name, stamp, lambda: over_x_figure(lines, x_label, label, chance))
        panels.append(_panel(name, f"{label} over {x_label}", LINE_HEIGHT, label, list(rows.values()), drawn))
    if alone:
        name = f"strip.{metric}"
        drawn = remember(name, stamp, lambda: strip_figure(alone, label, chance))
        panels.append(_panel(name, label, strip_height(len(alone)), label, alone, drawn))
    return {
        "id": f"ended.{metric}",
        "title": f"Where they ended: {label}",
        "note": "A small mark a seed, the line through the means." if lines else "A point a seed, a bar at the mean.",
        "panels": panels,
        "width": 420,
        "table": _table_of(shown, arms, rows),
    }


def _panel(name: str, title: str, height: int, label: str, rows: Sequence[Ended], drawn: Plain) -> Plain:
    return {"id": name, "title": title, "height": height, "alt": _rows_in_words(label, rows), "figure": drawn}


def _row_of(shown: Shown, arm: Arm) -> Ended:
    of_role = [other for other in shown.arms if other.role == arm.role and other.metric == arm.metric]
    by_seed = {trial.seed: trial for trial in shown.trials if trial.arm == arm.name}
    values = [by_seed[seed].numbers.get(arm.metric) if seed in by_seed else None for seed in shown.seeds]
    without = sum(arm.metric not in trial.numbers for trial in by_seed.values())
    return Ended(arm.name, role_color(arm.role, of_role.index(arm), len(of_role)), values, shown.seeds, without)


def _lines_of(arms: Sequence[Arm], rows: dict[str, Ended]) -> list[OverX]:
    named = dict.fromkeys(arm.line for arm in arms if arm.line and arm.x is not None)
    by_role = {line: next(arm.role for arm in arms if arm.line == line) for line in named}
    lines = []
    for line in named:
        of_role = [other for other in named if by_role[other] == by_role[line]]
        points = {float(arm.x): rows[arm.name] for arm in arms if arm.line == line and arm.x is not None}
        lines.append(OverX(line, role_color(by_role[line], of_role.index(line), len(of_role)), points))
    return lines


def _rows_in_words(label: str, rows: Sequence[Ended]) -> str:
    return f"{label}: " + "; ".join(
        f"{row.name} {fmean(row.known):.3g} on average over {len(row.known)} seeds" if row.known else f"{row.name} no value yet"
        for row in rows
    )  # fmt: skip


def _table_of(shown: Shown, arms: Sequence[Arm], rows: dict[str, Ended]) -> Plain:
    return {
        "summary": "In numbers, seed by seed",
        "head": ["arm", "role", "mean", *(f"seed {seed}" for seed in shown.seeds)],
        "rows": [
            [arm.name, arm.role, f"{fmean(row.known):.4g}" if row.known else "", *(_number(v) for v in row.values)]
            for arm in arms
            for row in [rows[arm.name]]
        ],
    }


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"

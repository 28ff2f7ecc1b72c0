"""The grid of learning rates of an issue's arms, beside its arms: whether a finding holds at one rate only is seen at a glance."""

from collections.abc import Sequence
from statistics import fmean

import streamlit as st

from engine.experiments.experiment import PILOT_SEEDS, PILOTS
from engine.experiments.issues.issue import Issue
from engine.experiments.rates import RateGrid, best_in_words, read_grids
from pages.parts.app.in_markdown import escaped
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.experiments.arms import role_colors, with_unit
from pages.parts.charts.experiments.over_x import OverX, over_x_figure, over_x_height
from pages.parts.charts.experiments.strip import Ended

RATE = "learning rate"


def show_rates(issue: Issue, extended: bool) -> None:
    """The held-out score of each arm at each rate, and the rates that were chosen."""
    named = {arm.name for arm in issue.arms_of(extended)}
    grids = [grid for grid in read_grids(issue.slug) if grid.arm in named]
    if not grids:
        st.caption("The learning rates of these arms were not tuned: each is trained at the rate of its settings.")
        return
    st.markdown(
        "**Each of these arms is trained at its own best learning rate.** The rate with the best mean was chosen on "
        f"{PILOTS}, which no finding uses. Of rates that are as good, the one nearest to that of the settings was taken."
    )
    for why, arms in (
        ("no rate is better than blind guessing", [grid.arm for grid in grids if not grid.learns]),
        ("that is their condition", [arm.name for arm in issue.arms_of(extended) if not arm.tuned]),
    ):
        if arms:
            st.caption(f"Trained at the rate of their settings, since {why}: {escaped(', '.join(arms))}.")
    by_metric: dict[str, list[RateGrid]] = {}
    for grid in grids:
        by_metric.setdefault(grid.metric, []).append(grid)
    items = [_panel(issue, metric, of) for metric, of in by_metric.items()]
    panels(items, key=f"issues.rates.{issue.slug}", name=f"{issue.slug}-rates", subject=f"{issue.slug}.{extended}")


def _panel(issue: Issue, metric: str, grids: Sequence[RateGrid]) -> Panel:
    label, colors = with_unit(metric), role_colors([issue.arm(grid.arm).role for grid in grids])
    lines = [
        OverX(grid.arm, color, {at: Ended(grid.arm, color, scores, PILOT_SEEDS) for at, scores in grid.scores.items()})
        for grid, color in zip(grids, colors, strict=True)
    ]
    chosen = "; ".join(f"{grid.arm} {best_in_words(grid)}" for grid in grids)
    guessing = {grid.chance for grid in grids}
    return Panel(
        id=f"rates.{metric}", title=f"{label[:1].upper()}{label[1:]} at each learning rate",
        figure=over_x_figure(lines, RATE, label, guessing.pop() if len(guessing) == 1 else None), height=over_x_height(lines), wide=True,
        alt=f"{label} over the learning rate. " + "; ".join(map(_in_words, grids)), below=f"Chosen: {chosen}",
    )  # fmt: skip


def _in_words(grid: RateGrid) -> str:
    known = {rate: [score for score in scores if score is not None] for rate, scores in sorted(grid.scores.items())}
    return f"{grid.arm}: " + ", ".join(f"{fmean(scores):.3g} at {rate:g}" for rate, scores in known.items() if scores)

"""The state of each issue on this machine."""

from __future__ import annotations

from typing import Literal

from engine.experiments.issues.issue import Issue
from engine.experiments.store import latest_verdict
from pages.parts.stage.experiments import EXPERIMENTS

State = Literal["not run", "running", "shown", "not shown", "inconclusive"]
ICONS: dict[State, str] = {
    "not run": ":material/radio_button_unchecked:",
    "running": ":material/hourglass_top:",
    "shown": ":material/check_circle:",
    "not shown": ":material/cancel:",
    "inconclusive": ":material/help:",
}
COLORS: dict[State, Literal["gray", "blue", "green", "orange"]] = {
    "not run": "gray",
    "running": "blue",
    "shown": "green",
    "not shown": "orange",
    "inconclusive": "gray",
}


def state_of(issue: Issue, session: str) -> State:
    """Running if it runs in this session, else the newest verdict measured on this machine."""
    running = EXPERIMENTS.running_of(session)
    run = EXPERIMENTS.find(running) if running else None
    if run is not None and run.experiment.slug == issue.slug:
        return "running"
    return latest_verdict(issue.slug) or "not run"

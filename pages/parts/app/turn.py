"""Script runs of one visitor make room for those of others: who asks for pages without a pause waits for each."""

from __future__ import annotations

import time

from engine.foundation.pace import Pace
from pages.parts.app.presence import others_here
from pages.parts.app.visitor import visitor

PACE = Pace(rate=4.0, most=24.0)
"""Four script runs a second for each visitor with all tabs together, after two dozen at once: more than hands can ask for."""
LONGEST = 10.0
"""The most seconds that one script run waits."""


def wait_for_turn() -> None:
    """Wait where this visitor has asked for too many script runs, and others are there. Called by every script run."""
    who = visitor().id
    if others_here(who):
        time.sleep(min(LONGEST, PACE.spend(who, 1.0)))

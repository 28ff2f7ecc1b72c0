"""Processes that compute in the background, and leave the cores to whoever waits for an answer."""

from __future__ import annotations

import os
import sys

import psutil

TRAINING = 15
"""Niceness. On Linux the page process, at 0, then takes a core at once; left idle, nearly all of it trains."""
NOTEBOOK = 19
"""A notebook goes behind the training of others, too."""


def give_way(niceness: int) -> None:
    """Lower the priority of this process by so much, for good; Windows knows one step that fits."""
    if sys.platform == "win32":
        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(niceness)

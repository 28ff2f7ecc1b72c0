"""A visitor: one browser, with all its tabs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Visitor:
    id: str
    """The same for all tabs of a browser; empty for the program itself (the command line, a test), which has no limits."""
    address: str = ""
    """The network address, which many visitors may share; empty where it is not known."""


PROGRAM = Visitor("")

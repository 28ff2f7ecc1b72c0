"""A visitor: one browser, with all its tabs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Visitor:
    id: str
    """The same for all tabs of a browser; empty for the program itself (the command line, a test), which has no limits."""
    address: str = ""
    """The network address, which many visitors may share; empty where it is not known."""

    def may_steer(self, owner: str) -> bool:
        """Whether this visitor may pause, stop or delete what the visitor with the id ``owner`` started."""
        return self.id in ("", owner)


PROGRAM = Visitor("")

"""Controls that a link hides or locks: a page prepared for a class shows only what is to be tried."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass

from engine.settings.errors import Problem

NAMES = ("show", "hide", "lock")
ALLOWED = "one or more names of controls on this page, separated by commas"


@dataclass(frozen=True)
class Hidden:
    """The controls that a link shows, hides or locks. No value changes; whoever edits the address has them back."""

    show: tuple[str, ...] = ()
    """Where any are named, only these are drawn."""
    hide: tuple[str, ...] = ()
    lock: tuple[str, ...] = ()
    """Drawn, but they cannot be changed."""

    def draws(self, name: str) -> bool:
        return name not in self.hide and (not self.show or name in self.show)

    def query(self) -> dict[str, str]:
        return {name: ",".join(named) for name, named in vars(self).items() if named}


def read_hidden(query: Mapping[str, str], controls: Container[str]) -> tuple[Hidden, list[Problem]]:
    """What a link says about ``controls``, and a problem for each list in which it names others."""
    found: dict[str, tuple[str, ...]] = {}
    ignored: list[Problem] = []
    for name in NAMES:
        named = [part.strip() for part in query.get(name, "").split(",") if part.strip()]
        found[name] = tuple(dict.fromkeys(part for part in named if part in controls))
        if unknown := [part for part in named if part not in controls]:
            ignored.append(Problem(name, ", ".join(unknown), ALLOWED))
    return Hidden(**found), ignored

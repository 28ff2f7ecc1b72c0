"""The script of a kind of board as a file of its own, which a browser loads once: a message to a board repeats everything that the
component itself is made of."""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cached_property

FOLDER = "boards"
"""The scripts' folder in addresses, relative to the app."""


@dataclass(frozen=True)
class ScriptFile:
    """A JavaScript module. It exports ``draw(component)``, which returns a function to call when the board leaves the page."""

    name: str
    plain: bytes

    @cached_property
    def address(self) -> str:
        """The address relative to the app; another content has another address."""
        return f"{FOLDER}/{self.name}-{hashlib.sha256(self.plain).hexdigest()[:16]}.js"

    @cached_property
    def packed(self) -> bytes:
        return gzip.compress(self.plain)

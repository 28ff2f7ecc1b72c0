"""The registry of all plays of notebooks in this server process, by an unguessable id."""

from __future__ import annotations

import atexit
from collections import OrderedDict
from threading import RLock

from engine.notebooks import Notebook
from engine.notebooks.player import Play
from engine.workers.errors import NoRoom
from engine.workers.limits import Limits

MAX_KEPT = 100
"""The number of ended plays whose outputs are kept, the newest."""


class Players:
    """The plays: at most ``limits.notebooks`` processes at once, one running for each visitor. Usable from any thread."""

    def __init__(self, limits: Limits | None = None) -> None:
        self._limits = limits
        self._lock = RLock()
        self._by_id: OrderedDict[str, Play] = OrderedDict()

    def begin(self, notebook: Notebook, owner: str = "") -> Play:
        """Start a play, which waits for the number of a cell to run up to. Raises NoRoom."""
        with self._lock:
            limits = self._limits or Limits.from_environment()
            self._make_room(owner, limits.notebooks)
            if not self._by_id:
                atexit.register(self.close)
            play = Play(notebook, limits, owner)
            self._by_id[play.id] = play
            ended = [name for name, one in self._by_id.items() if one.state == "ended"]
            for name in ended[: max(0, len(self._by_id) - MAX_KEPT)]:
                del self._by_id[name]
            return play

    def find(self, name: str) -> Play | None:
        with self._lock:
            return self._by_id.get(name)

    def close(self) -> None:
        """End every process and wait for it."""
        with self._lock:
            plays = self._alive()
        for play in plays:
            play.stop("The app was closed.")
        for play in plays:
            play.wait(5.0)

    def _alive(self) -> list[Play]:
        return [play for play in self._by_id.values() if play.state != "ended"]

    def _make_room(self, owner: str, most: int) -> None:
        for play in self._alive():
            if play.owner == owner and play.state == "waiting":
                play.stop("You opened another one, so it was put away.")
            elif owner and play.owner == owner:
                raise NoRoom(f"“{play.notebook.title}” is still running. Stop it, or wait until it has ended.")
        if not most:
            raise NoRoom("This host plays no notebooks. Download this one as a Jupyter notebook: it runs by itself.")
        alive = self._alive()
        waiting = sorted((play for play in alive if play.state == "waiting"), key=lambda play: -play.waiting_seconds)
        if len(alive) >= most and not waiting:
            raise NoRoom(f"As many notebooks are running as this host allows at once ({most}); try again in a minute.")
        for play in waiting[: max(0, len(alive) - most + 1)]:
            play.stop("Others needed its place, so it was put away.")


PLAYERS = Players()
"""The one registry of this process."""

"""The registry of all plays of notebooks in this server process, by an unguessable id."""

import atexit
from collections import OrderedDict
from collections.abc import Callable, Iterable
from threading import RLock

from engine.foundation.errors import NoRoom
from engine.foundation.visitor import PROGRAM, Visitor
from engine.hosting.allowances import Allowances
from engine.notebooks import Notebook
from engine.notebooks.player import Play

MAX_KEPT = 100
"""The number of ended plays whose outputs are kept, the newest."""
NONE_HERE = "This host plays no notebooks. Download this one as a Jupyter notebook: it runs by itself."


class Players:
    """The plays, each counted among its visitor's notebooks until it ends. One that waits for further cells makes room for
    another one. Usable from any thread."""

    def __init__(self, allowances: Callable[[], Allowances]) -> None:
        """``allowances``: what counts the notebooks of each visitor."""
        self._allowances = allowances
        self._lock = RLock()
        self._by_id: OrderedDict[str, Play] = OrderedDict()

    @property
    def allowed(self) -> bool:
        """Whether this host plays notebooks at all."""
        return self._allowances().limits.notebooks > 0

    def begin(self, notebook: Notebook, visitor: Visitor = PROGRAM) -> Play:
        """Start a play, which waits for the number of a cell to run up to. Raises NoRoom."""
        with self._lock:
            allowances = self._allowances()
            self._make_room(visitor, allowances)
            release = allowances.take("notebook", visitor)
            if not self._by_id:
                atexit.register(self.close)
            try:
                play = Play(notebook, allowances.limits, visitor.id, then=release)
            except BaseException:
                release()
                raise
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

    def _make_room(self, visitor: Visitor, allowances: Allowances) -> None:
        """End plays that wait: the visitor's own where it may have no further one, and others' where the host may not. Raises
        NoRoom where the host plays no notebooks at all."""
        limits = allowances.limits
        if not limits.notebooks:
            raise NoRoom(NONE_HERE)
        own = [play for play in self._alive() if play.owner == visitor.id]
        _end_waiting(own, limits.notebooks_per_visitor, "You opened another one, so it was closed.")
        if allowances.count("notebook", visitor) < limits.notebooks_per_visitor:  # else nobody gives way to a refusal
            _end_waiting(self._alive(), limits.notebooks, "Others needed its place, so it was closed.")


def _end_waiting(alive: Iterable[Play], most: int, why: str) -> None:
    """End as many of the plays that wait, the longest first, as leave room for one more of ``most``."""
    plays = list(alive)
    waiting = sorted((play for play in plays if play.state == "waiting"), key=lambda play: -play.waiting_seconds)
    for play in waiting[: max(0, len(plays) - most + 1)]:
        play.stop(why)

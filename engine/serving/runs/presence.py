from collections.abc import Callable, Iterable

from engine.foundation.visitor import Visitor
from engine.serving import protocol
from engine.serving.processes.process import WorkerProcess
from engine.serving.runs.queued import QueuedRun

AWAY_SECONDS = (
    5.0  # without an open page, after which a visitor has left: a page that is reloaded is closed for a moment
)


class Presence:
    """The caller holds the supervisor's lock. Answers are as of the last update."""

    def __init__(self, has_page: Callable[[str], bool]) -> None:
        """``has_page``: true if the visitor of that id has a page open."""
        self._has_page = has_page
        # For each visitor who follows a run and has no page open: the time at which that was first found.
        self._disconnected_since, self._now = dict[str, float](), 0.0

    def update(self, runs: Iterable[QueuedRun], now: float) -> None:
        followers = {visitor.id for queued in runs for visitor in queued.followers}
        away = [one for one in followers if not self.is_present(one)]
        self._disconnected_since, self._now = {one: self._disconnected_since.get(one, now) for one in away}, now

    def is_present(self, visitor_id: str) -> bool:
        # the program itself is always here
        return not visitor_id or self._has_page(visitor_id)

    def seconds_disconnected(self, queued: QueuedRun) -> float:
        """Seconds since a page of any follower was last open; 0 while one has a page open."""
        return min(map(self._seconds_disconnected, queued.followers))

    def is_disconnected(self, queued: QueuedRun) -> bool:
        return self.seconds_disconnected(queued) > AWAY_SECONDS

    def send_audience(self, worker: WorkerProcess) -> None:
        known = {run_id: self._audience(queued) for run_id, queued in worker.runs.items()}
        if known != worker.audience:
            worker.audience = known
            worker.send(protocol.Audience(known))

    def _audience(self, queued: QueuedRun) -> protocol.Followers:
        disconnected = self.is_disconnected(queued)
        counted = (one for one in queued.followers if disconnected or self._seconds_disconnected(one) <= AWAY_SECONDS)
        return protocol.Followers(not disconnected, tuple(one.flow for one in counted))

    def _seconds_disconnected(self, visitor: Visitor) -> float:
        return self._now - self._disconnected_since.get(visitor.id, self._now)

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from engine.serving import protocol
from engine.serving.fair_queue import CREDIT, FairQueue, Flow
from engine.serving.live_run import SLICE, LiveRun

ROUND = 0.25  # seconds within which every run of one visitor has its turn; with many runs the slices get shorter
# Seconds that count for a turn at whose end a device was handed steps. They are the same for all such turns, however long a turn
# waits: so these runs rotate, and the device has steps of all of them at once.
HANDED_OVER = 0.002


class FairShare:
    """The runs of one worker. Its time is shared by people: network addresses take turns, at each its visitors, and of each the
    runs (:class:`FairQueue`). A run that several visitors follow, such as a trial of an experiment, has the turns of each of them,
    and counts for the one whose turn it was. A run that nobody waits for any more gets only time that no other run wants.

    A run goes first until its first point: somebody has just pressed Train. A run whose time is measured has the worker to itself
    from its first step on; until then it waits for its turn.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.runs: list[LiveRun] = []  # in the order of arrival
        self._unwatched = set[str]()  # ids of runs that nobody waits for
        self._flows = dict[str, list[Flow]]()  # by the run's id, for each of its followers
        self._clock = clock
        self._fair_queue = FairQueue()

    def follow(self, audience: Mapping[str, protocol.Followers]) -> None:
        self._unwatched = {run_id for run_id, followers in audience.items() if not followers.present}
        self._flows = {run_id: [(*flow, run_id) for flow in followers.flows] for run_id, followers in audience.items()}

    def find(self, run_id: str) -> LiveRun | None:
        return next((run for run in self.runs if run.run_id == run_id), None)

    @contextmanager
    def turn(self) -> Iterator[LiveRun | None]:
        """The run whose turn it is, or None while every run waits for its pace or is paused. The seconds of the block count as its
        time; of a run that hands steps to a device :data:`HANDED_OVER`."""
        began = self._clock()
        due = self._awaited([run for run in self._moving() if run.pacer.due <= began])
        if not due:
            yield None
            return
        asking = {flow: run for run in due for flow in self._flows.get(run.run_id, [("", "", "", run.run_id)])}
        turn = self._fair_queue.next(asking, [flow for flow, run in asking.items() if run.is_new])
        run = asking[turn]
        ahead = CREDIT if run.is_new else 0.0
        try:
            yield run
        finally:
            self._fair_queue.spend(turn, HANDED_OVER if run.training.on_device else self._clock() - began, ahead=ahead)

    def slice(self) -> float:
        return min(SLICE, ROUND / max(1, len(self._awaited(self._moving()))))  # seconds

    def seconds_to_next(self) -> float | None:
        """Seconds until there is something to do; None if only a command can change that."""
        times = [run.pacer.due for run in self._moving()]
        times += [run.delivery_due for run in self.runs if run.unsent]
        return max(0.0, min(times) - self._clock()) if times else None

    def _moving(self) -> list[LiveRun]:
        return [run for run in self.runs if not run.waiting]

    def _awaited(self, runs: list[LiveRun]) -> list[LiveRun]:
        # nobody waits for any: then all count
        return [run for run in runs if run.run_id not in self._unwatched] or runs

"""The queue of runs: which are let in, in whose turn they start, and on which worker."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from engine.foundation.errors import NoRoom, Refused
from engine.foundation.log import Queue
from engine.hosting.allowances import Allowances, Release, has_share
from engine.runs.request import RunRequest
from engine.workers import protocol
from engine.workers.processes.placement import goes_on_its_own, machine_for_own, worker_for_run
from engine.workers.processes.process import Slot, WorkerProcess
from engine.workers.processes.supervisor import Supervisor
from engine.workers.runs.queued import QueuedRun

CLOSING = "The app is closing."


def in_turn(queue: Sequence[QueuedRun], going: Iterable[QueuedRun]) -> list[QueuedRun]:
    """The queue in the order in which it starts: visitors take turns, runs that somebody looks at before trials of experiments.

    A visitor's first run waits behind nobody's second; among equals, network addresses take turns, so that who throws cookies away
    is not first each time. ``going``: the runs on workers, which count as turns had.
    """
    had = Counter(turn for run in going for turn in _turns_of(run))
    ranked = []
    for rank, run in enumerate(queue):
        own, here = _turns_of(run)
        ranked.append(((run.request.trial, had[own], had[here], rank), run))
        had.update((own, here))
    return [run for _, run in sorted(ranked, key=lambda pair: pair[0])]


def _turns_of(run: QueuedRun) -> tuple[tuple[bool, str, str], tuple[bool, str, str]]:
    """The names under which a run counts as a turn of its visitor and of its visitor's address."""
    visitor = run.request.visitor
    return (run.request.trial, "visitor", visitor.id), (run.request.trial, "address", visitor.address)


def seconds_to_start(going: Sequence[Sequence[float]], waiting: Sequence[float], most: int) -> list[float]:
    """The seconds until each waiting run starts.

    ``going``: for each worker the seconds of training that its runs have left; the runs of a worker share its core
    equally. ``waiting``: the same for the runs in the queue, in order. ``most``: the runs that a worker takes at once.
    """
    workers = [sorted(left) for left in going]
    now, starts = 0.0, list[float]()
    if not workers:
        return starts
    for needed in waiting:
        while min(map(len, workers)) >= most:  # pass the time until the next run of any worker ends
            passed = min(left[0] * len(left) for left in workers)
            now += passed
            for left in workers:
                share = passed / max(1, len(left))
                left[:] = [seconds - share for seconds in left if seconds - share > 1e-9]
        starts.append(now)
        chosen = min(workers, key=len)
        chosen.append(needed)
        chosen.sort()
    return starts


class RunQueue:
    """The runs that wait for a worker. Who does several things at once here holds the supervisor's lock meanwhile."""

    def __init__(self, supervisor: Supervisor, allowances: Allowances) -> None:
        self._supervisor, self._allowances = supervisor, allowances
        self._lock, self._limits = supervisor.lock, supervisor.limits
        self._waiting: list[QueuedRun] = []
        self._log = Queue()
        self._not_started = False

    def __len__(self) -> int:
        return len(self._waiting)

    def __iter__(self) -> Iterator[QueuedRun]:
        return iter(self._waiting)

    def admit(self, request: RunRequest) -> Release:
        """Count a run among its owner's, but no trial, before anything is written for it; :meth:`add` follows, or it is released. Raises
        Refused where no further run may wait, or none from this network address."""
        with self._lock:
            if self._supervisor.closing.is_set():
                raise Refused(CLOSING)
            address = request.visitor.address
            here = sum(bool(address) and queued.request.visitor.address == address for queued in self._waiting)
            waiting, most = len(self._waiting), self._limits.queue_length
            # While none waits, a run that is being saved may still find room on a worker.
            if waiting and not has_share(here, waiting, most):
                of = f"{waiting} runs" if waiting >= most else f"{here} runs from your network address"
                raise NoRoom(f"{of} are waiting already; try again when some have ended.")
            return (lambda: None) if request.trial else self._allowances.take("run", request.visitor)

    def add(self, queued: QueuedRun) -> bool:
        """Queue a run that was admitted. False, and it counts no more, where the pool is closing."""
        with self._lock:
            if self._supervisor.closing.is_set():
                queued.release()
                return False
            self._waiting.append(queued)
            self.dispatch()
        return True

    def put_first(self, queued: Iterable[QueuedRun]) -> None:
        """Queue runs again whose worker ended before they were settled there."""
        with self._lock:
            self._waiting[:0] = queued

    def find(self, run_id: str) -> QueuedRun | None:
        """The run of that id where it waits."""
        return next((queued for queued in self._waiting if queued.run.id == run_id), None)

    def take_out(self, leaves: Callable[[QueuedRun], bool] = lambda _: True) -> list[QueuedRun]:
        """Remove the runs of which this holds."""
        with self._lock:
            taken = [queued for queued in self._waiting if leaves(queued)]
            for queued in taken:
                self._remove(queued)
            if taken:
                self._number()
            return taken

    def worker_of(self, run_id: str) -> WorkerProcess | None:
        """The worker that has the run of that id."""
        return next((worker for worker in self._supervisor.workers if run_id in worker.runs), None)

    def free_slot(self, worker: WorkerProcess, queued: QueuedRun) -> None:
        """A run has left its worker: it counts no more among its owner's, and the next one has its slot."""
        with self._lock:
            del worker.runs[queued.run.id]
            queued.release()
            self.dispatch()

    def dispatch(self) -> None:
        """Give the runs to the workers that have room for them, each visitor in turn."""
        with self._lock:
            on_workers = [queued for worker in self._supervisor.workers for queued in worker.runs.values()]
            self._waiting = in_turn(self._waiting, on_workers)
            self._not_started = False
            for queued in list(self._waiting):
                if (worker := self._worker_for(queued)) is not None:
                    self._remove(queued)
                    run_id, folder = queued.run.id, str(queued.run.folder)
                    worker.runs[run_id], queued.run.machine = queued, worker.machine
                    worker.send(protocol.Start(run_id, queued.request, queued.prediction, folder, queued.saved_step))
                    for _ in range(queued.early_steps):
                        worker.send(protocol.Control(run_id, "step"))
            self._number()

    def retry(self) -> None:
        """Dispatch again where a process of its own could not be started for a run."""
        if self._not_started:
            self.dispatch()

    def _worker_for(self, queued: QueuedRun) -> WorkerProcess | None:
        """A worker with room for the run; for one that needs a process of its own, a new one."""
        workers = self._supervisor.workers
        if not goes_on_its_own(queued, workers, self._limits):
            return worker_for_run(workers, queued, self._limits.runs_per_worker)
        machine = machine_for_own(workers, self._supervisor.machines.training, self._limits)
        if machine is None:
            return None
        worker = self._supervisor.launch(Slot("own", run_id=queued.run.id, machine=machine.name))
        self._not_started = self._not_started or worker is None
        return worker

    def _remove(self, queued: QueuedRun) -> None:
        self._waiting.remove(queued)
        queued.run.wait_in_queue(None)

    def _number(self) -> None:
        """Tell each run its place and how long it will wait."""
        going = [
            [queued.seconds_left for queued in worker.runs.values()]
            for worker in self._supervisor.workers
            if worker.role == "runs"
        ]
        left = [queued.seconds_left for queued in self._waiting]
        most = max([1, *map(len, going)]) if left else 1  # as some wait, the workers are full
        waits = seconds_to_start(going, left, most)
        self._log.note(len(self._waiting))
        for rank, queued in enumerate(self._waiting):
            queued.run.wait_in_queue(rank + 1, waits[rank] if waits else None)

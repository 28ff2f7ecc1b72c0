import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from engine.foundation.errors import NoRoom, Refused
from engine.foundation.log import LOG
from engine.runs.request import RunRequest
from engine.serving import protocol
from engine.serving.allowances import Allowances, Release, has_share
from engine.serving.fair_queue import FairQueue
from engine.serving.host import WORKER_BYTES
from engine.serving.limits import Limits
from engine.serving.processes.machines import Machine, memory_for
from engine.serving.processes.process import Slot, WorkerProcess
from engine.serving.processes.supervisor import Supervisor
from engine.serving.runs.memory import has_room_for, needs_accelerator, together
from engine.serving.runs.presence import Presence
from engine.serving.runs.queued import QueuedRun

CLOSING = "The app is closing."
LOGGED_FROM = 4  # waiting runs from which the log tells the length of the queue, each time that it has doubled
LARGE_SHARE = 0.5  # of a worker's room for runs; a run above it is large
# the bound of a run without a formula up to which it may share a worker: a share of the room, and at least so many bytes
SMALL_SHARE, SMALL_BOUND = 0.125, 64 * 2**20


def in_turn(queue: Sequence[QueuedRun], going: Iterable[QueuedRun]) -> list[QueuedRun]:
    """The queue in the order of starts: network addresses take turns, and at each its visitors (:class:`FairQueue`), so that new
    cookies bring no further turn. Runs that somebody looks at start before trials of experiments.

    ``going``: the runs on workers, which count as turns had.
    """
    order, had = list[QueuedRun](), list(going)
    for trial in (False, True):
        shares = FairQueue()
        for run in had:
            if run.request.trial == trial:
                shares.spend(run.request.visitor.flow, 1, ahead=math.inf)
        waiting = [run for run in queue if run.request.trial == trial]
        for run in shares.in_turn(waiting, lambda run: run.request.visitor.flow):
            shares.spend(run.request.visitor.flow, 1)
            order.append(run)
    return order


def seconds_to_start(going: Sequence[Sequence[float]], waiting: Sequence[float], most: int) -> list[float]:
    """Seconds until each waiting run starts.

    ``going``: for each worker the seconds of training that its runs have left; the runs of a worker share its core equally.
    ``waiting``: the same for the runs in the queue, in order. ``most``: runs that a worker takes at once.
    """
    workers = [sorted(run_seconds) for run_seconds in going]
    now, starts = 0.0, list[float]()
    if not workers:
        return starts
    for needed in waiting:
        while min(map(len, workers)) >= most:  # pass the time until the next run of any worker ends
            passed = min(run_seconds[0] * len(run_seconds) for run_seconds in workers)
            now += passed
            for run_seconds in workers:
                share = passed / max(1, len(run_seconds))
                run_seconds[:] = [seconds - share for seconds in run_seconds if seconds - share > 1e-9]
        starts.append(now)
        chosen = min(workers, key=len)
        chosen.append(needed)
        chosen.sort()
    return starts


def worker_for_run(workers: Sequence[WorkerProcess], queued: QueuedRun, most: int) -> WorkerProcess | None:
    """The worker with the fewest running runs; None while every worker has as many runs as its machine allows, else ``most``, or
    too little room in its memory."""
    able = [worker for worker in workers if worker.available and worker.role == "runs"]
    # without an owner of an accelerator any worker takes the run, which then reports the missing device
    if needs_accelerator(queued, workers):
        able = [worker for worker in able if worker.owns_accelerator]
    room = [worker for worker in able if len(worker.runs) < (worker.most_runs or most) and has_room_for(worker, queued)]
    return min(room, key=lambda worker: (worker.load, worker.slot.number), default=None)


def needs_dedicated(queued: QueuedRun, workers: Sequence[WorkerProcess], limits: Limits) -> bool:
    """True if a run gets a dedicated process, with the operating system's limit: if it is large for a worker, or if its peak is
    only a bound and not small."""
    smallest = min((worker.allowed for worker in workers if worker.role == "runs"), default=int(limits.worker_memory))
    peak, room = queued.prediction.peak, smallest - WORKER_BYTES
    only_bound = queued.prediction.memory.saved is None
    large = peak > LARGE_SHARE * room or (only_bound and peak > max(SMALL_SHARE * room, SMALL_BOUND))
    # then it alone fails if it takes too much; the system's limit does not count an accelerator's memory
    return large and not needs_accelerator(queued, workers)


def machine_for_dedicated(
    workers: Sequence[WorkerProcess], machines: Sequence[Machine], limits: Limits
) -> Machine | None:
    """The machine with the fewest dedicated processes that has room for one more; None while there is none.

    There are at most as many as a machine has workers, and together with the predictions of the runs on these they fit into the
    workers' memory. One may always go, so that no run waits for ever.
    """
    if not any(worker.available and worker.role == "runs" for worker in workers):
        return None  # whether there is an accelerator is not known yet
    dedicated = Counter(worker.machine for worker in workers if worker.role == "dedicated")
    room = [
        machine for machine in machines if _has_room_for_dedicated(machine, dedicated[machine.name], workers, limits)
    ]
    return min(room, key=lambda machine: dedicated[machine.name], default=None)


def _has_room_for_dedicated(machine: Machine, dedicated: int, workers: Iterable[WorkerProcess], limits: Limits) -> bool:
    shared = [worker for worker in workers if worker.role == "runs" and worker.machine == machine.name]
    occupied = sum(WORKER_BYTES + together(run.prediction for run in worker.runs.values()) for worker in shared)
    needed = occupied + (dedicated + 1) * memory_for("dedicated", machine, limits)
    return dedicated == 0 or (dedicated < machine.slots and needed <= machine.slots * machine.memory)


class RunQueue:
    """A caller of several methods holds the supervisor's lock meanwhile."""

    def __init__(self, supervisor: Supervisor, allowances: Allowances, presence: Presence) -> None:
        self._supervisor, self._allowances, self._presence = supervisor, allowances, presence
        self._lock, self._limits = supervisor.lock, supervisor.limits
        self.waiting: list[QueuedRun] = []
        self._logged_from = LOGGED_FROM
        self._not_started = False

    def admit(self, request: RunRequest) -> Release:
        """Count a run among its owner's, but no trial, before anything is written for it; :meth:`add` follows, or it is released.
        Raises Refused if no further run may wait, or none from this network address."""
        with self._lock:
            if self._supervisor.closing.is_set():
                raise Refused(CLOSING)
            network = request.visitor.network
            here = sum(bool(network) and queued.request.visitor.network == network for queued in self.waiting)
            waiting, most = len(self.waiting), self._limits.queue_length
            # While none waits, a run that is being saved may still find room on a worker.
            if waiting and not has_share(here, waiting, most):
                of = f"{waiting} runs" if waiting >= most else f"{here} runs from your network address"
                raise NoRoom(f"{of} are waiting already; try again when some have ended.")
            return (lambda: None) if request.trial else self._allowances.take("run", request.visitor)

    def add(self, queued: QueuedRun) -> bool:
        """Queue a run that was admitted. False, and the run counts no more, if the pool is closing."""
        with self._lock:
            if self._supervisor.closing.is_set():
                queued.release()
                return False
            self.waiting.append(queued)
            self.dispatch()
        return True

    def find(self, run_id: str) -> tuple[WorkerProcess | None, QueuedRun | None]:
        for worker in self._supervisor.workers:
            if run_id in worker.runs:
                return worker, worker.runs[run_id]
        return None, next((queued for queued in self.waiting if queued.run.id == run_id), None)

    def shares_worker(self, queued: QueuedRun) -> bool:
        return not needs_dedicated(queued, self._supervisor.workers, self._limits)

    def all_runs(self) -> list[QueuedRun]:
        return self.waiting + self.on_workers()

    def on_workers(self) -> list[QueuedRun]:
        return [queued for worker in self._supervisor.workers for queued in worker.runs.values()]

    def take_out(self, leaves: Callable[[QueuedRun], bool] = lambda _: True) -> list[QueuedRun]:
        with self._lock:
            leaving = [queued for queued in self.waiting if leaves(queued)]
            for queued in leaving:
                self._remove(queued)
            if leaving:
                self._number()
            return leaving

    def free_slot(self, worker: WorkerProcess, queued: QueuedRun, *, again: bool = False) -> None:
        """Free the slot of a run that has left its worker. It queues ``again``, or counts no more among its owner's."""
        with self._lock:
            del worker.runs[queued.run.id]
            if again:
                queued.leaving = False
                queued.run.queue_again()
                self.waiting.append(queued)
            else:
                queued.release()
            self.dispatch()

    def dispatch(self) -> None:
        with self._lock:
            self.waiting = in_turn(self.waiting, self.on_workers())
            self._not_started = False
            for queued in list(self.waiting):
                if (worker := self._worker_for(queued)) is not None:
                    self._remove(queued)
                    run_id, folder = queued.run.id, str(queued.run.folder)
                    worker.runs[run_id], queued.run.machine = queued, worker.address
                    self._presence.send_audience(worker)
                    worker.send(protocol.Start(run_id, queued.request, queued.prediction, folder, queued.known_step))
                    for _ in range(queued.early_steps):
                        worker.send(protocol.Control(run_id, "step"))
            self._number()

    def retry(self) -> None:
        if self._not_started:
            self.dispatch()

    def _worker_for(self, queued: QueuedRun) -> WorkerProcess | None:
        workers = self._supervisor.workers
        if not needs_dedicated(queued, workers, self._limits):
            return worker_for_run(workers, queued, self._limits.runs_per_worker)
        machine = machine_for_dedicated(workers, self._supervisor.machines.training, self._limits)
        if machine is None:
            return None
        worker = self._supervisor.launch(Slot("dedicated", run_id=queued.run.id, machine=machine.name))
        self._not_started = self._not_started or worker is None
        return worker

    def _remove(self, queued: QueuedRun) -> None:
        self.waiting.remove(queued)
        queued.run.wait_in_queue(None)

    def _number(self) -> None:
        going = [
            [queued.seconds_left for queued in worker.runs.values()]
            for worker in self._supervisor.workers
            if worker.role == "runs"
        ]
        durations = [queued.seconds_left for queued in self.waiting]
        most = max([1, *map(len, going)]) if durations else 1  # as some wait, the workers are full
        waits = seconds_to_start(going, durations, most)
        if len(self.waiting) >= self._logged_from:
            LOG.info("%d runs wait in the queue.", len(self.waiting))
            self._logged_from = 2 * len(self.waiting)
        elif not self.waiting:
            self._logged_from = LOGGED_FROM
        for rank, queued in enumerate(self.waiting):
            queued.run.wait_in_queue(rank + 1, waits[rank] if waits else None)

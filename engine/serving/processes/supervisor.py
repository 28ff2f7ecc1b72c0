import time
from collections.abc import Callable, Iterable
from threading import Event as Signal
from threading import RLock, Thread

from engine.estimate.device import DeviceFacts
from engine.foundation.formatting import in_bytes, in_time
from engine.foundation.log import LOG, log_error
from engine.serving import protocol
from engine.serving.host import room_on_accelerator
from engine.serving.limits import Limits
from engine.serving.processes.machines import APP_MACHINE, Machine, Machines, memory_for
from engine.serving.processes.process import KillReason, Slot, WorkerProcess

CHECK_SECONDS = 0.1  # between two rounds of checks
MEMORY_EVERY = 1.0
SUSPENDED_SECONDS = 5.0  # if a round of checks is later by more than this, the computer was suspended, not the workers
# for all workers together to end by themselves when the pool is closed, and then for those that were killed
STOP_SECONDS = 2.0
RESTART_SECONDS = 2.0
STARTS_WITHIN = 120.0  # until a worker that is not ready is killed
PING_EVERY = 5.0  # of silence after which an idle worker is asked whether it is still there
# Without a question, after which a question process is ended. A moving control asks again and again: a process that is there
# answers in 30 ms, one that is forked for it in 130.
IDLE_SECONDS = 15.0
FAILING_AFTER = 3  # failed starts in a row from which the supervisor reports that workers cannot be started


class Supervisor:
    """The worker processes, and one thread that checks them: those that train runs in turns are always there, the others are
    launched for a run or a question.

    ``on_report`` is called on the worker's reader thread, ``on_round`` in every round, with the time (``time.monotonic``), on the
    supervisor's thread, without the lock.

    ``on_death`` is called on the reader thread of a worker that is gone, under the lock under which the worker leaves
    :attr:`workers`: anybody with the lock finds a run on a worker or at its next place. It returns the rest of the work, to be done
    without the lock.
    """

    def __init__(
        self,
        training: str,
        limits: Limits,
        machines: Machines,
        *,
        on_report: Callable[[WorkerProcess, protocol.Report], None],
        on_death: Callable[[WorkerProcess], Callable[[], None]],
        on_round: Callable[[float], None],
    ) -> None:
        self.limits, self.machines = limits, machines
        self.lock = RLock()  # for the workers, the tasks that each computes, and the tasks that wait for one
        self.closing = Signal()
        self._training = training
        self._on_report, self._on_death = on_report, on_death
        self._on_round = on_round
        self._workers = list[WorkerProcess]()
        self._failed_starts = 0
        self._start_after = 0.0
        self._thread = Thread(target=self._supervise, name="pool-supervisor", daemon=True)

    @property
    def workers(self) -> list[WorkerProcess]:
        return list(self._workers)

    @property
    def failing(self) -> bool:
        return self._failed_starts >= FAILING_AFTER

    def start(self) -> bool:
        """False if already started or closed."""
        with self.lock:
            if self._thread.ident or self.closing.is_set():
                return False
            self._thread.start()
        self.machines.cluster.start(self.fill_slots)
        self.fill_slots()
        return True

    def close(self) -> None:
        self.closing.set()
        if self._thread.ident:
            self._thread.join()
        with self.lock:
            workers = self.workers
        for worker in workers:
            worker.process.close()
        deadline = time.monotonic() + STOP_SECONDS
        for worker in workers:
            if not worker.process.wait(max(0.0, deadline - time.monotonic())):
                worker.process.kill()
        deadline = time.monotonic() + STOP_SECONDS
        for worker in workers:
            worker.process.wait(max(0.0, deadline - time.monotonic()))
        self.machines.cluster.close()

    def take_ready(self, worker: WorkerProcess, facts: DeviceFacts) -> None:
        worker.memory = worker.memory_when_ready = worker.process.memory()
        room = room_on_accelerator(facts.get("accelerator_memory", 0), self.limits.job_processes)
        with self.lock:
            worker.become_ready(facts, room)
            self._failed_starts = 0

    def _died(self, worker: WorkerProcess) -> None:
        if not (self.closing.is_set() or worker.retired):
            how = worker.process.end_in_words()
            if worker.pid:
                LOG.warning("%s (process %d) ended: %s.", worker.slot, worker.pid, how)
            else:
                LOG.warning("%s is not there: %s.", worker.slot, how)
        with self.lock:
            self._workers.remove(worker)
            if not (worker.ready or worker.retired) and worker.machine == APP_MACHINE:
                self._note_failed_start()
            finish = self._on_death(worker)
        finish()
        self.fill_slots()

    def _supervise(self) -> None:
        last_round = last_measured = time.monotonic()
        while not self.closing.wait(CHECK_SECONDS):
            now = time.monotonic()
            try:
                with self.lock:
                    workers = self.workers
                    if now - last_round > SUSPENDED_SECONDS:  # this process was suspended, not the workers
                        for worker in workers:
                            worker.process.last_message_at = now
                    kill_unresponsive(workers, self.limits, now)
                    self.fill_slots()
                if now - last_measured > MEMORY_EVERY:
                    last_measured = now
                    for worker in workers:  # without the lock: each look takes milliseconds
                        worker.memory = worker.process.memory()
                    with self.lock:
                        kill_oversized(workers)
                self._on_round(now)
            except Exception as error:  # supervision goes on
                log_error("Supervision", error)
            last_round = now

    def fill_slots(self) -> None:
        with self.lock:
            needed = [slot for machine in self.machines.training for slot in self._slots_of(machine)]
            for worker in self.workers:
                idle = worker.role == "jobs" and time.monotonic() - worker.idle_since < IDLE_SECONDS
                if not (worker.slot in needed or worker.retired or worker.runs or worker.job or idle):
                    worker.retire()
            there = {worker.slot for worker in self.workers}
            for slot in needed:
                if slot not in there:
                    self.launch(slot)

    def _slots_of(self, machine: Machine) -> list[Slot]:
        all_of_it = {Slot("runs", number, machine=machine.name) for number in range(machine.slots)}
        there = [worker for worker in self.workers if worker.role == "runs" and worker.machine == machine.name]
        busy = {worker.slot for worker in there if worker.runs}
        free = sorted(all_of_it - busy, key=lambda slot: slot.number)
        # those with runs first: the machine may have become smaller
        return [*busy, *free[: max(0, machine.slots - len(busy))]]

    def launch(self, slot: Slot) -> WorkerProcess | None:
        """Start a process, to which a run or a question may be given at once: it finds it when it is up. None if none can be
        started now."""
        with self.lock:
            machine = self.machines.find(slot.machine)  # None: it has just left
            stopped = self.closing.is_set() or not self._thread.ident
            if stopped or machine is None or time.monotonic() < self._start_after:
                return None
            allowed = memory_for(slot.role, machine, self.limits)
            try:
                worker = WorkerProcess(slot, machine, self._training, allowed, self._on_report, self._died)
            except OSError as error:
                log_error("A worker cannot be started", error)
                self._note_failed_start()
                return None
            self._workers.append(worker)
            worker.process.begin()
            return worker

    def _note_failed_start(self) -> None:
        self._failed_starts += 1
        self._start_after = time.monotonic() + RESTART_SECONDS


def kill_unresponsive(workers: Iterable[WorkerProcess], limits: Limits, now: float) -> None:
    for worker in workers:
        if not worker.ready:
            if now - worker.started_at > STARTS_WITHIN:
                worker.kill_for(KillReason("was not ready in time"))
            continue
        if worker.job is not None and worker.job.begun_at:
            continue  # those who wait for it give up in time
        if worker.busy_with is None:
            _ping(worker, limits, now)
            continue
        silent = now - worker.process.last_message_at
        stopping = [now - queued.stopped_at for queued in worker.runs.values() if queued.stopped_at is not None]
        if min(silent, max(stopping, default=0.0)) > limits.grace_seconds or silent > limits.silent_seconds:
            if worker.process.is_stopped():
                worker.kill_for(KillReason(f"was stopped from outside for {in_time(silent)}"))
            else:
                worker.kill_for(KillReason(f"did not come back for {in_time(silent)}", worker.busy_with))


def _ping(worker: WorkerProcess, limits: Limits, now: float) -> None:
    if worker.pinged_at > worker.process.last_message_at:
        if now - worker.pinged_at > limits.grace_seconds:
            worker.kill_for(KillReason(f"did not answer for {in_time(now - worker.pinged_at)}"))
    elif now - worker.process.last_message_at > PING_EVERY:
        worker.pinged_at = now
        worker.send(protocol.Ping())


def kill_oversized(workers: Iterable[WorkerProcess]) -> None:
    for worker in workers:
        if not worker.ready:
            continue
        used, allowed = worker.memory, worker.allowed + worker.libraries
        tasks = [*worker.runs, *([worker.job.ask.job_id] if worker.job else [])]
        # the operating system's own limit does not count all of it
        if tasks and used > allowed:
            culprit = tasks[0] if len(tasks) == 1 else None
            worker.kill_for(
                KillReason(f"used {in_bytes(used)} of memory, where {in_bytes(allowed)} are allowed,", culprit)
            )
        elif not tasks and used > (worker.memory_when_ready + allowed) / 2 and worker.memory_when_ready < allowed:
            worker.kill_for(KillReason("had grown"))

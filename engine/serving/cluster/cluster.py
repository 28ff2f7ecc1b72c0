from collections.abc import Callable, Sequence
from functools import partial
from threading import Event, Thread
from typing import Any
from urllib.parse import urlsplit

from distributed import Client, Future, Security

from engine.estimate.device import DeviceFacts
from engine.foundation.code_hash import program_hash
from engine.foundation.log import LOG, log_error
from engine.serving.cluster import task
from engine.serving.cluster.worker import SILENT_SECONDS, ClusterWorker
from engine.serving.host import MIN_RUNS_BYTES, SHARED_BYTES, WORKER_BYTES, is_loopback
from engine.serving.processes.machines import Cluster, Machine

POLL_SECONDS = 1.0
RECONNECT_SECONDS = 5.0  # until a scheduler that could not be reached is tried again
FREE_SHARE = 0.75  # the share of a worker's memory that its runs may take together
MAX_CLOSE_SECONDS = 10.0  # seconds that DaskCluster.close() may take


def checked_address(address: str) -> str:
    """Raises ValueError with one sentence if the scheduler's connection is not protected."""
    parts = urlsplit(address)
    # anybody who reaches a scheduler can run code on its workers and in the app
    protected = parts.scheme == "tls" or (parts.scheme == "tcp" and is_loopback(parts.hostname))
    if protected and parts.hostname and parts.port:
        return address
    raise ValueError(
        f"The scheduler is {address!r}; it must be tls://host:port, or tcp://127.0.0.1:port on this machine only."
    )


class DaskCluster(Cluster):
    """The workers of a Dask scheduler: to the pool one machine, with a slot for each of their threads. It renews a lost connection."""

    def __init__(self, address: str, security: Security | None = None, training: str = "engine.training.train") -> None:
        """``security``: the certificates; by default those of Dask's settings. Raises ValueError for an unprotected address."""
        self.address = checked_address(address)
        self.connecting = True
        self.refused: dict[str, str] = {}  # by the address of a worker that is not used: the reason, a sentence
        self._security, self._training = security, training
        self._client: Client | None = None
        self._facts_requested: dict[str, Future[Any]] = {}
        self._facts: dict[str, tuple[str, int, DeviceFacts]] = {}
        self._threads: list[str] = []  # for each thread of a worker its address, those with a GPU first
        self._machine = Machine(0, 0, partial(ClusterWorker, self), address, most_runs=1)
        self._changed: Callable[[], None] = lambda: None
        self._closing = Event()
        self._thread = Thread(target=self._live, name="cluster", daemon=True)

    @property
    def machines(self) -> Sequence[Machine]:
        return [self._machine] if self._threads else []

    def start(self, changed: Callable[[], None]) -> None:
        self._changed = changed
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        if self._thread.ident:
            self._thread.join(MAX_CLOSE_SECONDS)

    def worker(self, number: int) -> tuple[str, int, DeviceFacts]:
        """The address of the worker for the slot of that number, its process's number, and its device; the slots with the first
        numbers own its GPUs. Raises OSError if there is none any more."""
        try:
            address = self._threads[number % len(self._threads)]
            _, pid, device = self._facts[address]
        except (ZeroDivisionError, LookupError):
            raise OSError("The workers of the cluster have just left.") from None
        owners = len([one for one in self._threads if self._facts[one][2].get("accelerator")])
        return address, pid, {**device, "accelerators": owners} if owners else device

    @property
    def client(self) -> Client:
        """Raises OSError while there is no connection."""
        if self._client is None:
            raise OSError("the cluster cannot be reached")
        return self._client

    def able(self, *, on_device: bool) -> list[str]:
        """The addresses of the workers that may take a run; ``on_device``: the ones with a GPU, if there are any."""
        with_gpu = [address for address, known in self._facts.items() if known[2].get("accelerator")]
        return (on_device and with_gpu) or list(self._facts)

    def forget(self, address: str) -> None:
        self._facts_requested.pop(address, None)
        self._facts.pop(address, None)
        self._threads = [other for other in self._threads if other != address]
        self._machine.slots = len(self._threads)

    def restart(self, address: str) -> None:
        try:
            self.client.restart_workers([address], timeout=30)
        except Exception as error:
            log_error(f"The cluster's worker {address} cannot be restarted; was it started with --no-nanny?", error)

    def _live(self) -> None:
        while not self._closing.is_set():
            try:
                with Client(
                    self.address, security=self._security or Security(), name="attention-lab", timeout=10,
                    direct_to_workers=True, set_as_default=False,
                ) as self._client:  # fmt: skip
                    LOG.info("Connected to the cluster at %s.", self.address)
                    self.problem = ""
                    while not self._closing.is_set() and self._client.status == "running":
                        self._refresh(self._client)
                        self._closing.wait(POLL_SECONDS)
                    if not self._closing.is_set():
                        raise OSError("the connection was lost")
            except Exception as error:
                self._note_lost(error)
                self._closing.wait(RECONNECT_SECONDS)
            finally:
                self._client = None

    def _refresh(self, client: Client) -> None:
        there = client.scheduler_info(n_workers=-1)["workers"]
        newest = max((worker["last_seen"] for worker in there.values()), default=0.0)
        # Dask itself counts on a worker for minutes that says nothing any more.
        there = {address: worker for address, worker in there.items() if worker["last_seen"] > newest - SILENT_SECONDS}
        for address in there.keys() - self._facts_requested.keys():
            self._facts_requested[address] = client.submit(task.facts, self._training, workers=[address], pure=False)
        for address in self._facts_requested.keys() - there.keys():
            del self._facts_requested[address]
            self.refused.pop(address, None)
        answered = {address: future for address, future in self._facts_requested.items() if future.done()}
        for address in answered.keys() - self._facts.keys() - self.refused.keys():
            try:
                self._facts[address] = answered[address].result()
                if self._facts[address][0] != program_hash():
                    raise ValueError("has another version of this program or of its libraries.")
            except Exception as error:
                self._facts.pop(address, None)
                self.refused[address] = f"{address} {str(error) or type(error).__name__}"
                LOG.warning("The cluster's worker %s It is not used.", self.refused[address])
        self._facts = {
            address: known
            for address, known in self._facts.items()
            if address in there.keys() & self._facts_requested.keys()
        }
        self._count({address: there[address] for address in self._facts})

    def _count(self, workers: dict[str, dict[str, Any]]) -> None:
        with_gpu_first = sorted(workers, key=lambda one: (not self._facts[one][2].get("accelerator"), one))
        threads = [address for address in with_gpu_first for _ in range(workers[address]["nthreads"])]
        rooms = [(int(FREE_SHARE * one["memory_limit"]) - SHARED_BYTES) // one["nthreads"] for one in workers.values()]
        self._machine.memory = max(min(rooms, default=0), WORKER_BYTES + MIN_RUNS_BYTES)
        if self.connecting and self._facts_requested and not (workers or self.refused):
            return  # they have not answered yet
        if self.connecting or threads != self._threads:
            self._threads, self._machine.slots, self.connecting = threads, len(threads), False
            self._changed()

    def _note_lost(self, error: Exception) -> None:
        if not self.problem:
            lost = "The cluster at %s cannot be reached (%s); runs are trained on this machine until it can."
            LOG.warning(lost, self.address, str(error) or type(error).__name__)
        self.problem = f"The cluster at {self.address} cannot be reached; runs are trained on this machine."
        self._facts_requested, self._facts = {}, {}
        self._count({})

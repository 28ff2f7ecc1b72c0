"""CUDA graphs: a piece of work on a device is recorded once, and repeated with one call.

A graph repeats the kernels of the recorded work on the same addresses, without Python and without a launch for each of them.
Source: NVIDIA, CUDA Programming Guide, CUDA Graphs; PyTorch documentation, CUDA semantics, CUDA Graphs.
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import ClassVar, Generic, TypeVar

import torch
from torch import Tensor

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import keeping_alive
from engine.estimate.device import MAX_FREE_DEVICE_BYTES
from engine.foundation.log import LOG

T = TypeVar("T")
# a piece of work that takes and returns nothing: it reads and writes tensors whose addresses stay
Work = Callable[[], None]


# The version of torch since which each CUDA graph has its own random state. Before, graphs that run at once read one another's.
RANDOM_STATE_PER_GRAPH = "2.13"


@contextmanager
def without_collection() -> Iterator[None]:
    """Make garbage wait inside the block: while a device records, nothing may free a graph of a run that is over."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class Recorder:
    """Records CUDA graphs for one run, on its own stream: the work of several runs overlaps on the device. Tests drive the steps
    with a stand-in on the CPU."""

    abandoned: ClassVar[list[torch.cuda.CUDAGraph]] = []

    def __init__(self, device: torch.device) -> None:
        self._stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._pool = torch.cuda.graph_pool_handle()
        self._read_tensors: list[object] = []

    @contextmanager
    def active(self) -> Iterator[None]:
        """Send work to the run's queue on the device, inside the block. Its results are read there, too: outside, nothing waits for it."""
        self._stream.wait_stream(torch.cuda.current_stream(self._stream.device))
        with torch.cuda.stream(self._stream):
            yield

    def record(self, work: Work) -> Work:
        """Record ``work`` without doing it, and return a function that does it. It was done once before, inside :meth:`active`.
        Raises RuntimeError if it cannot be recorded."""
        # Not torch.cuda.graph: it collects garbage and empties the allocator's cache each time, which other runs fill again.
        if torch.cuda.memory_reserved() - torch.cuda.memory_allocated() > MAX_FREE_DEVICE_BYTES:
            torch.cuda.empty_cache()  # of the steps before: a graph has memory of its own
        graph = torch.cuda.CUDAGraph()
        with without_collection(), keeping_alive() as read:  # what was remembered: the graph reads it at its address
            graph.capture_begin(pool=self._pool, capture_error_mode="thread_local")
            try:
                work()
            except BaseException:
                self._give_up(graph)
                raise
            graph.capture_end()
        self._read_tensors.append(read)
        return graph.replay

    def _give_up(self, graph: torch.cuda.CUDAGraph) -> None:
        try:
            graph.capture_end()
        except RuntimeError:
            # the device refuses to end it: its end would free what others use, so the graph stays, and the allocator is told that
            # it is over
            self.abandoned.append(graph)
            with suppress(AttributeError, RuntimeError):
                torch._C._cuda_endAllocateToPool(self._stream.device_index, self._pool)  # noqa: SLF001

    def staging(self, like: Tensor) -> Tensor:
        """Zeros on the CPU, of the shape and type of ``like``, in memory that is copied to the device without waiting."""
        return torch.zeros_like(like, device="cpu", pin_memory=True)


class Repeated(Generic[T]):
    """A computation that is repeated on tensors that keep their addresses. Without a recorder it is always computed."""

    result: T
    """The result of a repetition: tensors that hold its latest values. Only after it was recorded."""

    def __init__(self, recorder: Recorder | None, compute: Callable[[], T]) -> None:
        self._recorder, self._compute = recorder, compute
        self._done = False
        self._repeat: Work | None = None

    def __call__(self) -> T:
        if self._repeat is not None:
            self._repeat()
            return self.result
        result = self._compute()
        # the second time: everything that lasts, such as masks, has just been used
        if self._done and self._recorder is not None:
            self._record(self._recorder)
        self._done = True
        return result

    def repeats(self, result: T) -> bool:
        """True for the result of a repetition: the next one is in the same tensors."""
        return self._repeat is not None and result is self.result

    def _record(self, recorder: Recorder) -> None:
        def work() -> None:
            self.result = self._compute()

        try:
            self._repeat = recorder.record(work)
        except RuntimeError as error:
            LOG.warning(
                "A GPU takes a step launch by launch, because it cannot be recorded: %s", str(error).splitlines()[0]
            )
            self._recorder = None


def why_not_recorded(config: RunConfig, device: torch.device) -> str:
    if device.type != "cuda":
        return ""
    if config.optimizer == "muon":
        return "Each step is launched alone: Muon's update cannot be recorded as a CUDA graph."
    if config.randomized_positions != 1:
        return "Each step is launched alone: randomized positions differ in every step, and a CUDA graph repeats the same ones."
    if config.task_settings.partners(config.seq_len) is not None:
        return "Each step is launched alone: coupled positions begin elsewhere in every step, and a CUDA graph repeats the same ones."
    if (config.dropout or config.position_dropout) and torch.__version__ < RANDOM_STATE_PER_GRAPH:
        return "Each step is launched alone: with this version of torch all CUDA graphs share one random state."
    return ""


def recorder_for(config: RunConfig, device: torch.device) -> Recorder | None:
    """None if the run's steps are not recorded."""
    return Recorder(device) if device.type == "cuda" and not why_not_recorded(config, device) else None

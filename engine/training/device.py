"""The device of a run and the run's random state there, so that interleaved runs do not disturb one another; the devices that a
worker process finds."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

from engine.config.run_config import RunConfig
from engine.estimate.device import DeviceFacts
from engine.estimate.prediction import Prediction

# for a device whose kernels are not deterministic: only on a CPU is a run repeated to the last bit
NOT_EXACT = "On {} the same settings and seed give nearly the same numbers: sums run in a changing order there."

BY_SIZE = "The number of FLOPs of a step decided on the device: the speed of {} is not measured here yet."


def find_accelerator() -> torch.device | None:
    return torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None


def choose_device(config: RunConfig, prediction: Prediction) -> tuple[torch.device, str]:
    """The device, and a note that explains the choice ("" if there is nothing to explain). ``prediction``: the config's own, with
    the choice (:mod:`engine.estimate.device`).

    Raises ValueError with one sentence if the config names a device that this machine lacks.
    """
    accelerator, chosen = find_accelerator(), prediction.device
    if config.device == "auto":
        if accelerator is None:
            return torch.device("cpu"), ""
        why = chosen.why or BY_SIZE.format(accelerator.type)
        if not chosen.accelerator:
            return torch.device("cpu"), why
        return accelerator, f"{NOT_EXACT.format(accelerator.type)} {why}"
    if config.device != "cpu" and (accelerator is None or accelerator.type != config.device):
        devices = "cpu" if accelerator is None else f"cpu, {accelerator.type}"
        raise ValueError(f"device is {config.device}; this machine has {devices}.")
    return torch.device(config.device), "" if config.device == "cpu" else NOT_EXACT.format(config.device)


# the state of the CPU's generator, and of the device's if the run is on a GPU (CUDA or Apple's)
RandomStates = tuple[Tensor, Tensor | None]


class RandomState:
    """The global random state of torch as one run sees it: swapped in while the run computes, out while it waits."""

    def __init__(self, seed: int, device: torch.device) -> None:
        self._device = None if device.type == "cpu" else torch.get_device_module(device)
        self.states: RandomStates = self._read()
        with self.active():
            torch.manual_seed(seed)

    def _read(self) -> RandomStates:
        return torch.get_rng_state(), None if self._device is None else self._device.get_rng_state()

    def _write(self, states: RandomStates) -> None:
        cpu, accelerator_state = states
        torch.set_rng_state(cpu)
        if self._device is not None and accelerator_state is not None:
            self._device.set_rng_state(accelerator_state)

    @contextmanager
    def active(self) -> Iterator[None]:
        outside = self._read()
        self._write(self.states)
        try:
            yield
        finally:
            self.states = self._read()
            self._write(outside)


def describe_device(slot: int, *, owns: bool) -> DeviceFacts:
    """Set one thread for this worker and choose its device. ``owns``: true if worker i owns GPU i. The pool gives workers beyond
    the last GPU no run that uses one."""
    torch.set_num_threads(1)
    facts = DeviceFacts(
        torch=str(torch.__version__), accelerator=None, accelerators=0, accelerator_name="", accelerator_memory=0
    )
    accelerator = find_accelerator()
    if accelerator is not None:
        kind, count = accelerator.type, torch.accelerator.device_count()
        facts["accelerator"], facts["accelerators"] = kind, count
        # no other process has a context on this GPU
        if kind == "cuda" and owns and slot < count:
            torch.cuda.set_device(slot)
            facts["accelerator_name"] = torch.cuda.get_device_name(slot)
            facts["accelerator_memory"] = torch.cuda.mem_get_info(slot)[0]
    return facts

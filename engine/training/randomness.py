"""Random state that belongs to one run, so that interleaved runs do not disturb one another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor


class RandomState:
    """torch's global random state as one run sees it: swapped in while the run computes, out while it waits."""

    def __init__(self, seed: int, device: torch.device) -> None:
        self._device = device
        outside = self._read()
        torch.manual_seed(seed)
        self.states = self._read()
        """The state of the CPU's generator, and of the device's where the run is on a GPU (CUDA or Apple's)."""
        self._write(outside)

    def _read(self) -> tuple[Tensor, Tensor | None]:
        match self._device.type:
            case "cuda":
                return torch.get_rng_state(), torch.cuda.get_rng_state(self._device)
            case "mps":
                return torch.get_rng_state(), torch.mps.get_rng_state()
        return torch.get_rng_state(), None

    def _write(self, states: tuple[Tensor, Tensor | None]) -> None:
        cpu, own = states
        torch.set_rng_state(cpu)
        if own is not None and self._device.type == "cuda":
            torch.cuda.set_rng_state(own, self._device)
        elif own is not None:
            torch.mps.set_rng_state(own)

    @contextmanager
    def active(self) -> Iterator[None]:
        outside = self._read()
        self._write(self.states)
        try:
            yield
        finally:
            self.states = self._read()
            self._write(outside)

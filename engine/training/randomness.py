"""Random state that belongs to one run, so that interleaved runs do not disturb one another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


class RandomState:
    """torch's global random state as one run sees it: swapped in while the run computes, out while it waits."""

    def __init__(self, seed: int, device: torch.device) -> None:
        self._cuda = device if device.type == "cuda" else None
        with torch.random.fork_rng(devices=[self._cuda] if self._cuda else []):
            torch.manual_seed(seed)
            self.states = self._read()
            """The state of the CPU's generator, and of the device's where the run is on a GPU."""

    def _read(self) -> tuple[torch.Tensor, torch.Tensor | None]:
        return torch.get_rng_state(), torch.cuda.get_rng_state(self._cuda) if self._cuda else None

    @staticmethod
    def _write(states: tuple[torch.Tensor, torch.Tensor | None], cuda: torch.device | None) -> None:
        torch.set_rng_state(states[0])
        if states[1] is not None and cuda is not None:
            torch.cuda.set_rng_state(states[1], cuda)

    @contextmanager
    def active(self) -> Iterator[None]:
        outside = self._read()
        self._write(self.states, self._cuda)
        try:
            yield
        finally:
            self.states = self._read()
            self._write(outside, self._cuda)

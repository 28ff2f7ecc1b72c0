"""One thread, as the workers run: with more, small models wait for threads rather than compute. And a fork server of a test's own."""

from collections.abc import Iterator

import pytest
import torch

from engine.serving.processes import forked
from engine.serving.processes.forked import ForkServer

torch.set_num_threads(1)


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    """A fork server of this test's own, which imports nothing and so is there soon."""
    monkeypatch.setattr(forked, "WARM", ())
    monkeypatch.setattr(forked, "FORK_SERVER", server := ForkServer())
    yield server
    server.close()

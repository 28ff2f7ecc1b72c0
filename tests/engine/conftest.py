from collections.abc import Iterator

import pytest

from engine.serving.processes import forked
from engine.serving.processes.forked import ForkServer


@pytest.fixture
def cold(monkeypatch: pytest.MonkeyPatch) -> Iterator[ForkServer]:
    """A fork server of this test, which imports nothing and so is there soon."""
    monkeypatch.setattr(forked, "WARM", ())
    monkeypatch.setattr(forked, "FORK_SERVER", server := ForkServer())
    yield server
    server.close()

"""The workers of these tests have a data folder of their own; a scheduler has a clock that the test sets."""

from collections.abc import Iterator

import pytest

from engine.foundation.files import DATA_VARIABLE
from engine.serving.processes import forked
from engine.serving.processes.forked import WARM, ForkServer
from engine.serving.turns import FairShare
from tests.engine.foundation.test_visitor import Clock


@pytest.fixture(scope="module", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA_VARIABLE, str(tmp_path_factory.mktemp("data")))
        yield


@pytest.fixture(scope="session")
def warm_server() -> Iterator[ForkServer]:
    server = ForkServer()
    yield server
    server.close()


@pytest.fixture(scope="module")
def warm(warm_server: ForkServer) -> Iterator[None]:
    """What is started from here on in this file has imported torch, which was done once for all files."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forked, "WARM", WARM)
        patch.setattr(forked, "FORK_SERVER", warm_server)
        yield


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def turns(clock: Clock) -> FairShare:
    return FairShare(clock)

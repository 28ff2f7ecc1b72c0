"""What tests of running experiments share: a pool with a torch-free training, and a data folder for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.workers.pool import Pool
from tests.engine.workers.test_pool import pool_of


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with pool_of(tmp_path_factory.mktemp("experiments"), size=2) as pool:
        yield pool


@pytest.fixture
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))

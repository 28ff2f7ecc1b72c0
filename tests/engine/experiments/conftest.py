from collections.abc import Iterator

import pytest

from engine.serving.pool import Pool
from tests.engine.serving.test_pool import pool_of


@pytest.fixture(scope="session")
def pool(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    with pool_of(tmp_path_factory.mktemp("experiments"), size=2) as pool:
        yield pool

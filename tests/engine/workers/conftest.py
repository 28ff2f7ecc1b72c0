"""The workers of these tests have a data folder of their own."""

from collections.abc import Iterator

import pytest

from engine.foundation.files import DATA_VARIABLE


@pytest.fixture(scope="module", autouse=True)
def own_data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA_VARIABLE, str(tmp_path_factory.mktemp("data")))
        yield

"""A Chromium for each file that asks for one: it ends before the next file runs an event loop."""

from collections.abc import Iterator

import pytest

from tests.browser.conftest import launched


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    with launched() as browser:
        yield browser

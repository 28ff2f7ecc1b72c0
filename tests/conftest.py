"""How the suite is spread over processes: a file stays together, and all browser tests do: one browser is enough for a machine."""

from __future__ import annotations

from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling


class Together(LoadScopeScheduling):  # type: ignore[misc]
    """Groups by :meth:`_split_scope`, in the order of the files: the browser first, which takes longest."""

    def _split_scope(self, nodeid: str) -> str:
        return "browser" if nodeid.startswith("tests/browser/") else nodeid.split("::", 1)[0]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together:
    return Together(config, log)

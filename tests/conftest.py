"""Acceptance tests run only where ``-m`` names them: they take minutes."""

from __future__ import annotations

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "acceptance" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("acceptance")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]

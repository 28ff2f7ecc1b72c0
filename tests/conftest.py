"""Acceptance tests run only where ``-m`` names them: they take minutes. Files that start browsers or processes, and so wait, come first."""

from __future__ import annotations

from pathlib import Path

import pytest

LONGEST = (
    "tests/test_checks",
    "tests/browser",
    "tests/engine/workers",
    "tests/engine/cluster",
    "tests/engine/notebooks",
)
"""The files with which a run of all tests begins, so that none of them is left for the end, when the other processes are idle."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """What no test of this run would come from is not even read: it imports much."""
    named = "acceptance" in " ".join([config.option.markexpr, *config.args])
    return True if collection_path.name == "acceptance" and not named else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "acceptance" not in config.option.markexpr:
        left_out = [item for item in items if item.get_closest_marker("acceptance")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))

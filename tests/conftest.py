"""Thorough and acceptance tests run only where ``-m`` names them: they take long. Files that start browsers or processes, and so wait, come
first."""

import asyncio
import inspect
from pathlib import Path

import pytest

LONGEST = ("test_checks", "browser", "engine/serving", "tools")
"""The files with which a run of all tests begins, so that none of them is left for the end, when the other processes are idle."""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """The folder of the acceptance tests is not even read where none of them is wanted: it imports much."""
    named = "acceptance" in " ".join([config.option.markexpr, *config.args])
    return True if collection_path.name == "acceptance" and not named else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    unnamed = [mark for mark in ("thorough", "acceptance") if mark not in config.option.markexpr]
    left_out = {item for item in items if any(map(item.get_closest_marker, unnamed))}
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
    items.sort(key=lambda item: not item.nodeid.removeprefix("tests/").startswith(LONGEST))


@pytest.fixture
def own_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder for a test by itself."""
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    return tmp_path


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """An asynchronous test is played in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(pyfuncitem.obj).parameters}
    asyncio.run(pyfuncitem.obj(**given))
    return True

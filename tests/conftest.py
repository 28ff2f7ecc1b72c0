"""Thorough and acceptance tests run only where ``-m`` names them: they take long. What takes longest, or waits, comes first; files that
share a server, a browser or a pool run in one process."""

import asyncio
import gc
import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from engine.serving.processes import forked

# One thread, as the workers run, also for what tests start: with more, small models wait for threads rather than compute.
os.environ["OMP_NUM_THREADS"] = "1"

# What Python compiles is kept, whatever the environment says: else each of the many processes that tests start compiles the engine anew,
# and every process of ``-n`` rewrites all asserts.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

gc.disable()  # until all tests are known: of what their files make nothing is thrown away

TOGETHER = ("tests/browser/", "tests/pages/web/", "tests/pages/", "tests/engine/serving/")
"""Folders whose files share a server and a browser, or a pool of workers."""
LONGEST = (
    "test_checks", "engine/runs/test_next_step", "browser/test_stack", "browser", "pages", "engine/serving", "engine/cli",
    "engine/estimate", "tools",
)  # fmt: skip
"""With these a run of all tests begins, so that none of them is left for the end, when the other processes are idle."""


class Together(LoadFileScheduling):
    """A process gets a file at a time, or a folder of :data:`TOGETHER`."""

    def _split_scope(self, nodeid: str) -> str:
        return next((folder for folder in TOGETHER if nodeid.startswith(folder)), super()._split_scope(nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    """Thorough tests are mostly those of the browser: all processes share them out by files."""
    return Together(config, log) if config.option.dist == "loadfile" and not config.option.markexpr else None


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """The number of processes of ``-n logical``: two for each core, since tests wait for browsers and processes as long as they compute.
    Thorough tests, each with a browser and a server beside it, have one more than cores, acceptance tests as many."""
    cores = os.cpu_count() or 1
    return {"": 2 * cores, "thorough": cores + 1}.get(config.option.markexpr)


def pytest_sessionstart(session: pytest.Session) -> None:
    """In a fresh clone the asserts of a file are rewritten by one of the processes of ``-n``, not by all of them at once: each imports its
    share of the files before it collects them all."""
    process: dict[str, Any] | None = getattr(session.config, "workerinput", None)
    if process is None or Path(session.config.args[0]).name != "tests":
        return
    top, own = Path(__file__).parent, slice(int(process["workerid"].removeprefix("gw")), None, process["workercount"])
    for file in sorted(file for file in top.rglob("test_*.py") if "acceptance" not in file.parts)[own]:
        with suppress(Exception, pytest.skip.Exception):  # collecting it says why
            import_module(".".join(file.relative_to(top.parent).with_suffix("").parts))


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
    items.sort(key=lambda item: [not item.nodeid.removeprefix("tests/").startswith(folder) for folder in LONGEST])


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _light_fork_server(pytestconfig: pytest.Config) -> Iterator[None]:
    """Nearly all workers of these tests train without torch, whose import takes longer than they do. Those of acceptance tests train for
    real."""
    with pytest.MonkeyPatch.context() as patch:
        if "acceptance" not in pytestconfig.option.markexpr:
            patch.setattr(forked, "WARM", ("engine.serving.worker",))
        yield


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

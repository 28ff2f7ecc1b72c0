"""What is imported when the server starts, and what is not: pandas before any page runs, torch never. What it does first when it is
asked to end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from threading import Event

from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.parts.web.compose import serving

ROOT = Path(__file__).parents[3]
CODE = """
import pkgutil, sys
import app
assert not sys.modules["pandas"].__spec__._initializing
assert "pages.main" not in sys.modules
import pages.parts
for module in pkgutil.walk_packages(pages.parts.__path__, "pages.parts."):
    __import__(module.name)
from engine.notebooks import NOTEBOOKS
from pages.parts.memory_and_time.board import UNMEASURED
from engine.notebooks.ipynb import to_ipynb
from tests.pages.boards.test_live_board import ScriptedRun, opened
run = ScriptedRun()
run.advance(20)
assert not opened(run, recorded=True).exception
assert UNMEASURED.lines
assert all(notebook.steps and to_ipynb(notebook) for notebook in NOTEBOOKS.values())
print(sorted({"torch", "nbformat"} & set(sys.modules)))
"""


def test_pandas_is_whole_before_the_first_page_runs_and_no_page_brings_torch() -> None:
    """What pages import is under a contract; here it is seen, with what they do late.

    A page that imports pandas late breaks Plotly in the threads of other sessions, which meets a half imported module.
    """
    found = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_in_the_engine_only_frames_import_pandas_and_nothing_imports_them_beforehand() -> None:
    """A worker, a command and a notebook do without its .8 s and 79 MB until somebody wants a frame."""
    sources = {path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in (ROOT / "engine").rglob("*.py")}
    importing = {name for name, text in sources.items() if re.search(r"(?m)^ *(import|from) pandas\b", text)}
    assert importing == {name for name in sources if name.endswith("frames.py")}
    beforehand = r"(?m)^(import|from) engine[.\w]*(frames\b| import .*frames\b)"
    assert not [name for name, text in sources.items() if re.search(beforehand, text)]


class Server:
    """As uvicorn's: the handler of the signals is a method of it."""

    should_exit = False

    def handle_exit(self, *_: object) -> None:
        self.should_exit = True


def test_asked_to_end_the_server_stops_its_workers_before_it_has_given_all_answers() -> None:
    stopped, before = Event(), signal.signal(signal.SIGTERM, Server().handle_exit)
    made = serving(find=lambda _: None, start=list, stop=stopped.set, health=dict, ask=lambda *_: None)
    try:
        with TestClient(Starlette(routes=made["routes"], lifespan=made["lifespan"])):
            assert not stopped.is_set()
            os.kill(os.getpid(), signal.SIGTERM)
            assert stopped.wait(30), "an answer that waits for a worker would hold the end up"
    finally:
        signal.signal(signal.SIGTERM, before)

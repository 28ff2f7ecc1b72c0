"""A real server on a free port and a real Chromium; without one these tests skip, loudly."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
STREAMLITS_OWN = ("/_stcore/health", "/_stcore/host-config")
"""A deep link makes Streamlit's own script ask for these beside the page first, and miss."""

Serve = Callable[..., str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="NO BROWSER TESTS: playwright is not installed")
    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_api.sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        except sync_api.Error as error:
            pytest.skip(
                f"NO BROWSER TESTS: Chromium does not start ({str(error).splitlines()[0]}); set CHROMIUM to its path"
            )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """Start ``streamlit run`` on an app of the repository with extra environment; gives its address."""
    started: list[subprocess.Popen[bytes]] = []

    def start(app: str = "app.py", **environment: str) -> str:
        port = free_port()
        folder = tmp_path_factory.mktemp("server")
        log = (folder / "log.txt").open("wb")
        command = [
            sys.executable,
            "-m",
            "streamlit",
            "run",
            app,
            "--server.port",
            str(port),
            "--server.headless",
            "true",
        ]
        process = subprocess.Popen(
            command, cwd=ROOT, stdout=log, stderr=subprocess.STDOUT,
            env=os.environ | {"ATTENTION_LAB_DATA": str(folder / "data")} | environment,
        )  # fmt: skip
        started.append(process)
        prefix = environment.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
        address = f"http://127.0.0.1:{port}/{prefix + '/' if prefix else ''}"
        _until_healthy(address, process, folder / "log.txt")
        return address

    yield start
    for process in started:
        process.terminate()
    for process in started:
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            pytest.fail("The server did not stop within 15 s of being asked to.")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _until_healthy(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        with suppress(OSError), urllib.request.urlopen(f"{address}_stcore/health", timeout=2) as answer:
            if answer.read() == b"ok":
                return
        time.sleep(0.1)
    pytest.fail(f"The server did not start:\n{log.read_text(errors='replace')[-3000:]}")

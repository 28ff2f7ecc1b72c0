"""``streamlit run`` on a free port, in a separate process, and a Chromium that opens it."""

import json
import os
import random
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
BASELINE = {"step": 0.002, "layer": 0.0005, "number": 4e-8, "flop": 1e-11}
BASELINES = [{"family": name, **BASELINE} for name in ("gru", "lstm", "cnn")]
# the speed of a machine, which a server would otherwise measure at its first start, for five seconds of a core
SPEED = {"cpu": {"overhead": 0.001, "rate": 5e10, "baselines": BASELINES}}
# every host is this machine: no request of a page reaches the internet
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * 127.0.0.1",
)  # fmt: skip


@contextmanager
def start_server(
    app: str, folder: Path, *, under: Sequence[str] = (), root: Path = ROOT, **environment: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server process and its address, at a free port if ``environment`` names none. It must stop when it is asked to.
    ``under``: a program that replaces itself by the command that follows. ``root``: the folder of the program, such as
    of another commit."""
    port, log = environment.get("STREAMLIT_SERVER_PORT") or str(free_port()), folder / "log.txt"
    mine = {
        "STREAMLIT_SERVER_PORT": port, "STREAMLIT_SERVER_HEADLESS": "true", "ATTENTION_LAB_DATA": str(folder / "data"),
    }  # fmt: skip
    data = Path(environment.get("ATTENTION_LAB_DATA", mine["ATTENTION_LAB_DATA"]))
    data.mkdir(parents=True, exist_ok=True)
    if not (data / "speed.json").exists():
        with suppress(OSError):  # A full or read-only disk takes nothing: that server has to measure.
            (data / "speed.json").write_text(json.dumps(SPEED), "utf-8")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*under, sys.executable, "-m", "streamlit", "run", app],
            cwd=root, stdout=output, stderr=subprocess.STDOUT, env=os.environ | mine | environment,
        )  # fmt: skip
    prefix = environment.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    address = f"http://127.0.0.1:{port}/{prefix + '/' if prefix else ''}"
    try:
        sign_of(process, log, lambda: _is_healthy(address))
        yield process, address
        process.terminate()
        process.wait(120)
    finally:
        process.kill()


def free_port() -> int:
    # below the ports of outgoing connections, one of which could take it before the server does
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):
        with suppress(OSError), socket.socket() as probe:
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("A hundred ports were tried, and none is free.")


def sign_of(process: subprocess.Popen[bytes], log: Path, sign: Callable[[], Any]) -> Any:
    """The first true value of ``sign``, which shows that a process has started. Raises RuntimeError with the end of its log."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        if value := sign():
            return value
        time.sleep(0.05)
    raise RuntimeError(f"It did not start:\n{log.read_text(errors='replace')[-3000:]}")


def _is_healthy(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"{address}_stcore/health", timeout=2) as answer:
        return bool(answer.read() == b"ok")
    return False


@contextmanager
def chromium() -> Iterator[Any]:
    """A Chromium, by Playwright. While it is on, nothing else in the main thread of the process can run an event loop. Raises
    Playwright's Error if it does not start; the variable CHROMIUM names its path."""
    from playwright.sync_api import sync_playwright

    path = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()

"""``streamlit run`` on a free port, as a process of its own, and the handshakes that a browser makes with it."""

import base64
import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

ROOT = Path(__file__).resolve().parents[1]
BASELINE = {"step": 0.002, "layer": 0.0005, "number": 4e-8, "flop": 1e-11}
BASELINES = [{"family": name, **BASELINE} for name in ("gru", "lstm", "cnn")]
SPEED = {"cpu": {"overhead": 0.001, "rate": 5e10, "baselines": BASELINES}}
"""The speed of a machine, which a server would otherwise measure at its first start, for five seconds of a core."""


@contextmanager
def running(
    app: str, folder: Path, *, under: Sequence[str] = (), root: Path = ROOT, **environment: str
) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A server process and its address, at a free port where ``environment`` names none. It must stop when it is asked to. ``under``:
    a program that replaces itself by the command that follows. ``root``: the folder of the program, as of another commit."""
    port, log = environment.get("STREAMLIT_SERVER_PORT") or str(free_port()), folder / "log.txt"
    own = {
        "STREAMLIT_SERVER_PORT": port, "STREAMLIT_SERVER_HEADLESS": "true", "ATTENTION_LAB_DATA": str(folder / "data"),
    }  # fmt: skip
    data = Path(environment.get("ATTENTION_LAB_DATA", own["ATTENTION_LAB_DATA"]))
    data.mkdir(parents=True, exist_ok=True)
    if not (data / "speed.json").exists():
        with suppress(OSError):  # A full or read-only disk takes nothing: that server has to measure.
            (data / "speed.json").write_text(json.dumps(SPEED), "utf-8")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*under, sys.executable, "-m", "streamlit", "run", app],
            cwd=root, stdout=output, stderr=subprocess.STDOUT, env=os.environ | own | environment,
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


def handshake(address: str, host: str, origin: str | None) -> int:
    """The status with which the server answers a websocket handshake: 101 where it lets the client in.

    ``host`` and ``origin`` are the values of the headers; None leaves the origin out, as programs do.
    """
    key = base64.b64encode(os.urandom(16)).decode()
    headers = {"Host": host, "Connection": "Upgrade", "Upgrade": "websocket"}
    headers |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": key}
    if origin is not None:
        headers["Origin"] = origin
    with closing(HTTPConnection(urlsplit(address).netloc, timeout=240)) as connection:
        connection.request("GET", f"{urlsplit(address).path}_stcore/stream", headers=headers)
        return connection.getresponse().status


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def sign_of(process: subprocess.Popen[bytes], log: Path, look: Callable[[], Any]) -> Any:
    """The first true value of ``look``, by which a process is seen to have started; fails with the end of its log."""
    deadline = time.monotonic() + 240
    while time.monotonic() < deadline and process.poll() is None:
        if found := look():
            return found
        time.sleep(0.05)
    pytest.fail(f"It did not start:\n{log.read_text(errors='replace')[-3000:]}")


def _is_healthy(address: str) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"{address}_stcore/health", timeout=2) as answer:
        return bool(answer.read() == b"ok")
    return False

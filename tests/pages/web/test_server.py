import json
import re
import shlex
import shutil
import signal
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from pages.parts.app.visitor import COOKIE
from tests.serving import ROOT, handshake, start_server
from tools.load.session import messages, open_session, visitor

PROXIES = ("http_proxy", "https_proxy", "all_proxy")
COUNTING = """
import gc
import streamlit as st

@st.cache_resource
def collections():
    gc.disable()  # those that Python makes by itself are not counted
    seen = []
    gc.callbacks.append(lambda phase, about: seen.append(phase))
    return seen

st.query_params["seen"] = len(collections())
"""


def deploy_line() -> tuple[dict[str, str], list[str]]:
    """The environment variables that the line for a host sets, and its command, as a shell would read them."""
    line = re.search(r"```sh\n(.*?)```", (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8"), re.DOTALL)[1]
    words = shlex.split(line.replace("\\\n", " "))
    start = next(number for number, word in enumerate(words) if "=" not in word)
    return dict(word.split("=", 1) for word in words[:start]), words[start:]


def test_the_deploy_line_lets_in_who_comes_by_the_hosts_name_and_nobody_else(tmp_path: Path) -> None:
    environment, command = deploy_line()
    assert command == [".venv/bin/streamlit", "run", "app.py"]
    with start_server("app.py", tmp_path, STREAMLIT_SERVER_ADDRESS="127.0.0.1", **environment) as (_, address):
        assert handshake(address, "lab.example.org", "https://lab.example.org") == 101
        assert handshake(address, "foreign.example", "https://foreign.example") == 403


async def train(address: str) -> dict[str, Any]:
    """The last message of a short run's event stream, read from its beginning to its end."""
    async with visitor() as me, open_session(me, address, "lab", "steps=2") as tab:
        await tab.press("Train")
        run = (await tab.until_ended()).run
        return [message async for message in messages(me, address, run, 0)][-1]


async def test_named_origins_are_let_in_and_none_asks_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROXIES:  # with a proxy, every request would go to that, which may stand on this machine
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    outside = tmp_path / "outside"
    outside.mkdir()
    shutil.copy(ROOT / "tests" / "outside" / "sitecustomize.py", outside)
    notes, named = outside / "notes.jsonl", ("https://lab.example.org", "https://www.example.org")
    watched = {
        "PYTHONPATH": str(outside),  # its processes note there that they began and whom they ask
        "ATTENTION_LAB_WORKERS": "1",
        "STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS": " ".join(named),
    }
    with start_server("app.py", tmp_path, **watched) as (_, address):
        host = address.removeprefix("http://").strip("/")
        for origin in named:
            assert handshake(address, "127.0.0.1", origin) == 101
        for origin in ("https://foreign.example", "null", f"http://{host}.foreign.example"):
            assert handshake(address, host, origin) == 403
        with urllib.request.urlopen(address) as page:
            assert page.headers["set-cookie"].startswith(f"{COOKIE}=")
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(f"{address}_stcore/metrics")
        assert (await train(address))["status"]["state"] == "finished"
    requests: list[dict[str, Any]] = [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]
    began = [" ".join(note["began"]) for note in requests if "began" in note]
    assert any("streamlit run app.py" in command for command in began)
    assert any("engine.serving.worker" in command for command in began), "the workers are watched too"
    assert [note for note in requests if "host" in note] == []


async def test_no_script_run_ends_with_a_full_collection_which_would_stop_every_session_at_once(tmp_path: Path) -> None:
    script = tmp_path / "counts_collections.py"
    script.write_text(COUNTING)
    with start_server(str(script), tmp_path) as (_, address):
        for _ in range(5):
            async with visitor() as me, open_session(me, address, "") as tab:
                assert tab.query == "seen=0"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_asked_to_stop_ends_its_streams_and_stops(number: signal.Signals, tmp_path: Path) -> None:
    """Otherwise it would wait for them for ever."""
    with start_server("tests/browser/site/app.py", tmp_path) as (process, address):
        with urllib.request.urlopen(f"{address}live/waiting") as stream:
            assert stream.readline().startswith(b"id: ")
            process.send_signal(number)
            assert b"queue_position" in stream.read(), "it ended as streams end, not in the middle"
        process.wait()
    assert "Error" not in (tmp_path / "log.txt").read_text()

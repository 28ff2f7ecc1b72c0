"""Nothing of the app asks anything of the internet: not at its start, not in a run, not because a foreign website knocks."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.serving import ROOT, handshake, running
from tests.visitor import visiting

PROXIES = ("http_proxy", "https_proxy", "all_proxy")


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, Path]]:
    """The address of the whole app, and the file in which its processes note that they began and whom they ask."""
    for name in PROXIES:  # with a proxy, every request would go to that, which may stand on this machine
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    notes = tmp_path / "notes.jsonl"
    watched = {
        "PYTHONPATH": str(ROOT / "tests" / "outside"),
        "PYTHON_CALLS_FILE": str(notes),
        "ATTENTION_LAB_WORKERS": "1",
    }
    with running("app.py", tmp_path, **watched) as (_, address):
        yield address, notes


def read(notes: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]


def train(address: str) -> bytes:
    """What the event stream of a short run says, from its beginning to its end."""
    with visiting(address) as visitor:
        visitor.open("lab", "steps=2")
        visitor.press("Train")
        with urllib.request.urlopen(f"{address}live/{visitor.run_id}", timeout=120) as stream:
            said: bytes = stream.read()
            return said


def test_no_process_asks_outside(server: tuple[str, Path]) -> None:
    address, notes = server
    host = address.removeprefix("http://").strip("/")
    assert b'"state":"finished"' in train(address)
    for origin in ("https://foreign.example", "null", f"http://{host}.foreign.example"):
        assert handshake(address, host, origin) == 403
    began = [" ".join(note["began"]) for note in read(notes) if "began" in note]
    assert any("streamlit run app.py" in command for command in began)
    assert any("engine.workers.worker" in command for command in began), "the workers are watched too"
    assert [note for note in read(notes) if "host" in note] == []

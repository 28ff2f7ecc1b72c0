"""Damaged, newer and foreign files in every store: the real server starts on them, and each page has a sentence at most."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path

import pytest

from engine.config.run_config import RunConfig
from engine.runs.events import Ended
from engine.runs.store import Runs
from tests.load.board import messages
from tests.load.session import opened, visitor
from tests.serving import running

pytestmark = pytest.mark.acceptance

PAGES = ("", "lab", "text", "attention", "encodings", "issues", "issues?issue=heads", "design", "notebooks")
FOREIGN = {
    "speed.json": '{"overhead": "a", "rate": 0}',
    "servers/0123456789abcdef.json": "[1, 2]",
    "costs/cut-short-sweep.json": '{"format": 1, "plan"',
    "costs/newer-sweep-01.json": '{"format": 99}',
    "evidence/heads/1-aa.json": '{"format": 1, "trials": [{}], "verdict": "yes"}',
    "evidence/heads/2-bb.json": '{"format": 99}',
    "evidence/heads/3-cc.json": "\0\1",
    "evidence/trials/0.json": "[]",
    "texts/" + "0" * 32 + ".txt": "something else",
    "runs/notes.txt": "not a run",
    "runs/lost+found/x": "not a run",
}


def test_the_server_starts_on_damaged_newer_and_foreign_files(tmp_path: Path) -> None:
    data = tmp_path / "data"
    for name, content in FOREIGN.items():
        (data / name).parent.mkdir(parents=True, exist_ok=True)
        (data / name).write_text(content)
    runs = Runs(data / "runs")
    config = RunConfig().replace(steps=5)
    cut, newer, tomorrow = (runs.create(config) for _ in range(3))
    (cut.folder / "events.jsonl").write_text('{"event": "prog')
    (newer.folder / "events.jsonl").write_text('{"event": "telepathy", "step": 3}\n')
    row = json.loads((newer.folder / "config.json").read_text())
    row["config"]["telepathy"] = True
    (newer.folder / "config.json").write_text(json.dumps(row))
    row = json.loads((tomorrow.folder / "config.json").read_text())
    (tomorrow.folder / "config.json").write_text(json.dumps(row | {"created": time.time() + 86_400}))
    nobody = runs.create(config)
    (nobody.folder / "config.json").write_text('{"id": ')
    tomorrow.append([Ended(0, "stopped")])

    async def scene() -> None:
        with running("app.py", tmp_path) as (_, address):
            async with visitor() as http:
                for page in PAGES:
                    name, _, query = page.partition("?")
                    async with opened(http, address, name, query) as tab:
                        assert tab.errors == 0, page
                for run, state in ((cut, "lost"), (newer, "lost"), (tomorrow, "stopped")):
                    async with opened(http, address, "lab", f"run={run.id}") as tab:
                        assert tab.errors == 0
                    async with asyncio.timeout(25):
                        news = await anext(messages(http, address, run.id, 0))
                    assert news["status"]["state"] == state
                async with opened(http, address, "lab", f"run={nobody.id}") as tab:
                    assert any("no run of that name is kept here" in alert for alert in tab.alerts)

    asyncio.run(scene())
    assert "Traceback" not in (tmp_path / "log.txt").read_text()
    for name in ("runs/notes.txt", "runs/lost+found/x", "evidence/heads/2-bb.json"):
        assert (data / name).exists(), "what is not ours stays"

"""Damaged, newer and foreign files in every store: the real server starts on them, and each page has a sentence at most."""

from __future__ import annotations

import asyncio
import json
import os
import time
from pathlib import Path

import pytest

from engine.config.run_config import RunConfig
from engine.runs.events import Ended
from engine.runs.store import Runs
from tests.acceptance.scene import on_disk, open_every_page, play, shown, train, until
from tests.load.board import messages
from tests.load.session import opened, visitor
from tests.serving import running

pytestmark = pytest.mark.acceptance

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
                await open_every_page(http, address)
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


def test_after_the_clock_was_set_back_everything_in_the_folder_is_from_tomorrow(tmp_path: Path) -> None:
    data, now = tmp_path / "data", time.time()
    runs, config = Runs(data / "runs"), RunConfig().replace(steps=5)
    old, newer, tomorrow, elsewhere = (runs.create(config) for _ in range(4))
    for run, created in ((old, now - 7200), (newer, now - 3600), (tomorrow, now + 86_400)):
        rewrite(run.folder / "config.json", created=created)
        run.append([Ended(0, "stopped")])
    rewrite(elsewhere.folder / "config.json", server="0" * 16, created=now - 1800)
    lease = data / "servers" / f"{'0' * 16}.json"
    lease.parent.mkdir()
    lease.write_text(json.dumps({"id": "0" * 16, "pid": 1, "host": "another machine", "began": now}))
    for file in data.rglob("*"):
        os.utime(file, (now + 86_400, now + 86_400))

    async def scene() -> None:
        # The newest three of four are kept; what is from tomorrow is the newest.
        with running("app.py", tmp_path, ATTENTION_LAB_KEPT_RUNS="3") as (_, address):
            async with visitor() as http, opened(http, address, "lab", "steps=100") as tab:
                await until(lambda: not old.folder.exists() and not lease.exists())
                board = await train(address, tab, "finished")
                assert (board.step, tab.errors) == (100, 0)
                for run, state in ((newer, "stopped"), (tomorrow, "stopped"), (elsewhere, "lost")):
                    async with opened(http, address, "lab", f"run={run.id}") as other:
                        assert (await shown(other)).state == state
                        assert other.errors == 0
        assert on_disk(tmp_path, board.run).state == "finished"
        assert tomorrow.folder.exists()

    play(scene())


def rewrite(file: Path, **values: object) -> None:
    file.write_text(json.dumps(json.loads(file.read_text()) | values))

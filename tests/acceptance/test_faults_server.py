"""Faults of the real server: what a reader's page and board say, and what lies in the data folder afterwards."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

from tests.acceptance.scene import LONG, PATIENCE, healthz, on_disk, play, shown, steps_of, train, until, workers_of
from tests.load.session import opened, visitor
from tests.serving import ROOT, free_port, running

pytestmark = pytest.mark.acceptance

TOLD = "It was told to stop and did not, so its worker was ended."


def test_all_workers_killed_the_run_says_so_and_the_next_one_trains(tmp_path: Path) -> None:
    async def scene() -> None:
        with running("app.py", tmp_path) as (server, address):
            async with visitor() as http, opened(http, address, "lab", LONG) as tab:
                board = await train(address, tab)
                for worker in workers_of(server):
                    worker.kill()
                await until(lambda: board.ended)
                assert (board.state, board.problem) == (
                    "lost",
                    "Its worker process ended unexpectedly (signal 9). The same settings and seed give the same run again.",
                )
                found = on_disk(tmp_path, board.run)
                assert (found.state, found.step) == ("lost", board.step)
                again = await train(address, tab)
                await tab.press("Stop")
                await until(lambda: again.state == "stopped")
                assert healthz(address) == 200
                assert tab.errors == 0

    play(scene())


def test_asked_to_stop_the_server_puts_its_runs_away_leaves_no_process_and_goes_on_with_them(tmp_path: Path) -> None:
    async def scene() -> None:
        async with visitor() as http:
            with running("app.py", tmp_path) as (server, address):
                async with opened(http, address, "lab", LONG) as tab:
                    board = await train(address, tab)
                    workers = workers_of(server)
                    server.terminate()
                    await until(lambda: server.poll() is not None)
            assert not any(worker.is_running() for worker in workers)
            found = on_disk(tmp_path, board.run)
            assert (found.state, found.away) == ("paused", True)
            assert found.step >= board.step > 0
            assert not list((tmp_path / "data" / "servers").iterdir()), "no lease is left"
            with running("app.py", tmp_path) as (server, address):
                async with opened(http, address, "lab", f"run={board.run}") as tab:
                    again = await shown(tab)
                    await until(lambda: again.state == "running" and again.step > found.step)
                    await tab.press("Stop")
                    await until(lambda: again.ended)
            ended = on_disk(tmp_path, board.run)
            assert ended.state == "stopped"
            assert steps_of(ended) == list(range(1, ended.step + 1))

    play(scene())


def test_asked_to_stop_the_server_answers_a_question_that_waits_for_a_process_that_hangs(tmp_path: Path) -> None:
    limits = {"ATTENTION_LAB_WORKERS": "2", "ATTENTION_LAB_JOBS_PER_VISITOR": "1"}
    with running("app.py", tmp_path, **limits) as (server, address), ThreadPoolExecutor(2) as threads:

        def answering() -> list[psutil.Process]:
            return [worker for worker in workers_of(server) if "jobs" in worker.cmdline()]

        def ask(steps: int) -> str:
            with urllib.request.urlopen(f"{address}untrained?steps={steps}", timeout=PATIENCE) as answer:
                return str(json.loads(answer.read()).get("problem", ""))

        assert ask(6) == ""
        [process] = answering()
        process.suspend()
        asked = [threads.submit(ask, steps) for steps in (7, 8)]
        play(until(lambda: any(one.done() for one in asked)))  # it was refused: the other is under way
        server.terminate()
        server.wait(PATIENCE)
        assert "The app is closing." in [one.result() for one in asked]


@pytest.mark.parametrize("seconds", [0.5, 1.5, 3.0])
def test_asked_to_stop_while_it_starts_the_server_goes_and_starts_again(tmp_path: Path, seconds: float) -> None:
    own = {
        "STREAMLIT_SERVER_PORT": str(free_port()), "STREAMLIT_SERVER_HEADLESS": "true",
        "ATTENTION_LAB_DATA": str(tmp_path / "data"),
    }  # fmt: skip
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py"], cwd=ROOT, env=os.environ | own, start_new_session=True
    )
    time.sleep(seconds)
    server.terminate()
    assert server.wait(30) in (0, -signal.SIGTERM)
    left = [one for one in psutil.process_iter(["pid"]) if _session(one.pid) == server.pid]
    assert not [one for one in left if one.status() != psutil.STATUS_ZOMBIE]
    with running("app.py", tmp_path) as (_, address), urllib.request.urlopen(address, timeout=10) as page:
        assert page.status == 200


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0


def test_a_suspended_worker_costs_its_run_only_and_stop_ends_it_sooner(tmp_path: Path) -> None:
    limits = {
        "ATTENTION_LAB_WORKERS": "1", "ATTENTION_LAB_RUNS_PER_WORKER": "1",
        "ATTENTION_LAB_SILENT_SECONDS": "6", "ATTENTION_LAB_GRACE_SECONDS": "2",
    }  # fmt: skip

    async def scene() -> None:
        async with visitor() as http:
            with running("app.py", tmp_path, **limits) as (server, address):
                async with (
                    opened(http, address, "lab", LONG) as tab,
                    opened(http, address, "lab", "steps=100") as other,
                ):
                    hung = await train(address, tab)
                    waiting = await train(address, other, "queued")
                    suspend(server)
                    await until(lambda: hung.ended)
                    assert hung.state == "lost"
                    assert re.fullmatch(r"It did not come back for \d+ s and was ended\.", hung.problem), hung.problem
                    await until(lambda: waiting.ended)
                    assert (waiting.state, waiting.step) == ("finished", 100)

                    stopped = await train(address, tab)
                    suspend(server)
                    await tab.press("Stop")
                    await until(lambda: stopped.ended)
                    assert (stopped.state, stopped.problem) == ("stopped", TOLD)
                    assert tab.errors == other.errors == 0
                for board, state in ((hung, "lost"), (waiting, "finished"), (stopped, "stopped")):
                    found = on_disk(tmp_path, board.run)
                    assert (found.state, found.step) == (state, board.step)
                    assert steps_of(found) == list(range(1, found.step + 1))

    play(scene())


def suspend(server: subprocess.Popen[bytes]) -> None:
    """Suspend the worker that trains."""
    for worker in workers_of(server):
        if "runs" in worker.cmdline():
            worker.suspend()


def test_stopped_before_its_worker_is_there_and_in_its_first_moment(tmp_path: Path) -> None:
    async def scene() -> None:
        async with visitor() as http:
            with running("app.py", tmp_path) as (server, address):
                async with opened(http, address, "lab", LONG) as tab:
                    assert healthz(address) != 200, "no worker is there yet"
                    await tab.press("Train")
                    early = await shown(tab)
                    await tab.press("Stop")
                    await until(lambda: early.ended)
                    assert (early.state, early.step, early.problem) == (
                        "stopped",
                        0,
                        "It was stopped before it started.",
                    )
                    await until(lambda: healthz(address) == 200)
                    await tab.press("Train")
                    await tab.press("Stop")
                    await until(lambda: tab.board is not early and tab.board is not None and tab.board.ended)
                    assert tab.board is not None
                    again = tab.board
                    assert again.state == "stopped"
                    workers = workers_of(server)
                    await train(address, tab)
                    await tab.press("Stop")
                    assert workers_of(server) == workers, "no worker was ended for it"
                    assert tab.errors == 0
                for board in (early, again):
                    found = on_disk(tmp_path, board.run)
                    assert (found.state, found.step) == ("stopped", board.step)
                    assert not list(found.folder.rglob("*.part"))

    play(scene())

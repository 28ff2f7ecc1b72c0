import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import psutil
import pytest

from engine.serving.processes.priority import JOBS, TRAINING
from tests.acceptance.scene import LONG, Site, first_board, have_ended, on_disk, site, until
from tests.serving import ROOT, free_port, start_server
from tools.load.session import visitor

pytestmark = pytest.mark.acceptance

FORCED = "It did not stop when asked, so its worker was ended."


async def test_asked_to_stop_the_server_answers_a_question_that_waits_for_a_process_that_hangs(tmp_path: Path) -> None:
    limits = {"ATTENTION_LAB_WORKERS": "2", "ATTENTION_LAB_JOBS_PER_VISITOR": "1"}
    async with visitor() as me, site(me, tmp_path, **limits) as one:

        def ask(steps: int) -> str:
            with urllib.request.urlopen(f"{one.address}untrained?steps={steps}") as answer:
                return str(json.loads(answer.read()).get("problem", ""))

        assert ask(6) == ""
        await until(lambda: len(one.processes(TRAINING)) == 2)
        [process] = one.processes(JOBS)
        process.suspend()
        with ThreadPoolExecutor(2) as threads:
            questions = [threads.submit(ask, steps) for steps in (7, 8)]
            await until(lambda: any(one.done() for one in questions))  # it was refused: the other is under way
            one.server.terminate()
            one.server.wait()
            assert "The app is closing." in [one.result() for one in questions]


def listens(server: psutil.Process) -> bool:
    with closing(socket.socket()) as client:
        return client.connect_ex(("127.0.0.1", int(server.environ()["STREAMLIT_SERVER_PORT"]))) == 0


SIGNAL_AFTER = {
    "at once": psutil.Process.is_running,
    "it listens": listens,
    "it has a process": psutil.Process.children,
}


@pytest.mark.parametrize("signal_after", SIGNAL_AFTER)
async def test_asked_to_stop_while_it_starts_the_server_goes_and_starts_again(
    tmp_path: Path, signal_after: str
) -> None:
    environment = {
        "STREAMLIT_SERVER_PORT": str(free_port()), "STREAMLIT_SERVER_HEADLESS": "true",
        "ATTENTION_LAB_DATA": str(tmp_path / "data"),
    }  # fmt: skip
    server = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py"],
        cwd=ROOT,
        env=os.environ | environment,
        start_new_session=True,
    )
    process = psutil.Process(server.pid)
    await until(lambda: SIGNAL_AFTER[signal_after](process))
    server.terminate()
    assert server.wait() in (0, -signal.SIGTERM)
    await until(lambda: have_ended([one for one in psutil.process_iter() if session_of(one) == server.pid]))
    with start_server("app.py", tmp_path) as (_, address), urllib.request.urlopen(address) as page:
        assert page.status == 200


def session_of(process: psutil.Process) -> int:
    try:
        return os.getsid(process.pid)
    except OSError:
        return 0


async def test_a_suspended_worker_costs_no_run_and_stop_ends_it_sooner(tmp_path: Path) -> None:
    limits = {
        "ATTENTION_LAB_WORKERS": "1", "ATTENTION_LAB_RUNS_PER_WORKER": "1",
        "ATTENTION_LAB_SILENT_SECONDS": "6", "ATTENTION_LAB_GRACE_SECONDS": "2",
    }  # fmt: skip
    short = "steps=100"
    async with visitor() as me:
        async with site(me, tmp_path, **limits) as one, one.tab("lab", LONG) as tab, one.tab("lab", short) as other:
            hung = await one.train(tab)
            waiting = await one.train(other, "queued")
            suspend_what_trains(one)
            step = hung.step
            await until(lambda: hung.step > step + 100)
            await tab.press("Stop")
            await until(lambda: waiting.has_ended)
            assert (hung.state, waiting.state, waiting.step) == ("stopped", "finished", 100)

            stopped = await one.train(tab)
            suspend_what_trains(one)
            await tab.press("Stop")
            await until(lambda: stopped.has_ended)
            assert (stopped.state, stopped.problem) == ("stopped", FORCED)
            assert tab.errors == other.errors == 0
        for board, state in ((hung, "stopped"), (waiting, "finished"), (stopped, "stopped")):
            found = on_disk(tmp_path, board.run)
            assert (found.state, found.step) == (state, board.step)


def suspend_what_trains(one: Site) -> None:
    for worker in one.processes(TRAINING):
        worker.suspend()


async def test_stopped_before_its_worker_is_there_and_in_its_first_moment(tmp_path: Path) -> None:
    async with visitor() as me, site(me, tmp_path) as one, one.tab("lab", LONG) as tab:
        assert not one.is_ready(), "no worker is there yet"
        await tab.press("Train")
        early = await first_board(tab)
        await tab.press("Stop")
        await until(lambda: early.has_ended)
        assert (early.state, early.step, early.problem) == ("stopped", 0, "It was stopped before it started.")
        await until(one.is_ready)
        await tab.press("Train")
        await tab.press("Stop")
        await until(lambda: tab.board is not early and tab.board is not None and tab.board.has_ended)
        again = await first_board(tab)
        assert again.state == "stopped"
        workers = one.workers()
        await one.train(tab)
        await tab.press("Stop")
        assert one.workers() == workers, "no worker was ended for it"
        assert tab.errors == 0
    for board in (early, again):
        found = on_disk(tmp_path, board.run)
        assert (found.state, found.step) == ("stopped", board.step)
        assert not list(found.folder.rglob("*.part"))

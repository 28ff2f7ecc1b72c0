"""The load script against the real server: a run is really trained and seen to its end, and every scenario comes back."""

import argparse
import asyncio
import math
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from engine.foundation.provenance import short_commit
from tests.load.__main__ import main, scenarios_of, served
from tests.load.chaos import chaos
from tests.load.crowd import LEAVE, STAY
from tests.load.session import opened, visitor
from tests.serving import ROOT, running

pytestmark = pytest.mark.acceptance


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running("app.py", tmp_path_factory.mktemp("server")) as (_, address):
        yield address


async def test_a_session_trains_a_run_to_its_end_of_which_the_page_hears_and_moves_a_control(address: str) -> None:
    async with visitor() as http, opened(http, address, "lab", "steps=100&seed=3") as tab:
        await tab.press("Train")
        shown = await tab.until_ended()
        while not tab.took["board"]:
            await asyncio.sleep(0.05)
        assert (shown.state, shown.step) == ("finished", 100)
        assert f"run={shown.run}" in tab.query
        assert (bool(shown.points), shown.polled) == (True, False)
        await tab.move("Depth")
        assert "n_layers=2" in tab.query
        assert tab.board is shown
        await tab.move("Depth")
        assert "n_layers" not in tab.query
        assert (len(tab.took["move"]), tab.errors) == (2, 0)


def test_half_a_minute_of_sudden_ends_loses_no_run(tmp_path: Path) -> None:
    said = asyncio.run(chaos(tmp_path, 0.5, 3))
    [of_visitors] = (line for line in said if line.startswith("Runs of visitors"))
    assert "lost" not in of_visitors
    for line in (
        "Runs that a page showed and that no folder holds: 0.",
        "Runs with a step that is missing or there twice: 0.",
    ):
        assert line in said
    assert any(line.endswith("Tracebacks in the log: 0.") for line in said)


@pytest.mark.parametrize(("scenario", "sessions", "minutes"), [("lab", 2, 3.0), ("mixed", 9, 0.3), ("attack", 2, 3.0)])
def test_a_small_scenario_has_its_figures_and_leaves_no_process(scenario: str, sessions: int, minutes: float) -> None:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    facts = {"scenario": scenario, "sessions": sessions, "minutes": minutes}
    given = argparse.Namespace(**facts, steps=100, attacks=["16 paused runs"])
    for figures in [figures for one in scenarios_of(given) for figures in served(one).values()]:
        assert figures["interactions"] > 0
        assert (figures["interactions without an answer"], figures["elements with an exception"]) == (0, 0)
        assert math.isfinite(figures["interaction, p95 (s)"])
        assert figures.get("runs without an end", 0) == 0
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


def test_another_commit_is_measured_in_turns_and_both_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    git = ["git", "-C", str(ROOT), "worktree", "list"]
    before = subprocess.run(git, capture_output=True, text=True, check=True).stdout
    main(["lab", "--sessions", "2", "--steps", "50", "--against", "HEAD"])
    told = capsys.readouterr().out
    head = short_commit()
    for column in ("one session", "2 sessions"):
        table = told.rpartition(f"\n{column}:\n\n")[2]
        assert re.match(rf"\| \| {head}\S* \| {head}.* \| {head}\S* / {head}.* \|\n", table), table
        assert re.search(r"\n\| runs without an end \| 0 \| 0 \| – \|\n", table), table
    assert f"Medians of 1 round, commit {head}" in told
    assert subprocess.run(git, capture_output=True, text=True, check=True).stdout == before


def test_a_crowd_leaves_time_to_a_visitor_from_elsewhere() -> None:
    given = argparse.Namespace(scenario="crowd", sessions=2, minutes=5.0, steps=100)
    rounds = [served(one) for one in scenarios_of(given)]
    assert [list(columns) for columns in rounds] == [["nobody", f"2 cookies that {how}"] for how in (LEAVE, STAY)]
    for alone, beside in (columns.values() for columns in rounds):
        assert (alone["runs that went before"], beside["runs that went before"]) == (0, 6)
        assert (alone["steps taken"], beside["steps taken"]) == (100, 100)

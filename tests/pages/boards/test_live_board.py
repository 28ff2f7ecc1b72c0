from typing import Any, get_args

from streamlit.testing.v1 import AppTest

from engine.encodings import ENCODINGS
from pages.parts.boards.live.board import TITLES, PanelName, overlay, poll
from tests.scripted import ScriptedRun


def page() -> None:
    import streamlit as st

    from pages.parts.boards.live.board import BoardLayout, RecordedRun, live_board
    from pages.parts.boards.live.board_updates import updates_after

    run = st.session_state["run"]
    live_board(run, BoardLayout(), earlier=st.session_state.get("earlier", []), key="live")
    if st.session_state.get("recorded"):
        live_board(RecordedRun(run, updates_after(run, 0)[0], 3.0), BoardLayout(), key="recording")


def opened(run: ScriptedRun | None, **state: Any) -> AppTest:
    test = AppTest.from_function(page)
    test.session_state["run"] = run
    for name, value in state.items():
        test.session_state[name] = value
    return test.run()


def test_a_page_shows_a_run_in_every_state_and_empty_panels_without_one() -> None:
    run = ScriptedRun()
    test = opened(run)
    for state in ("queued", "running", "paused", "stopped", "lost"):
        run.state = state
        assert not test.run().exception
    run.state = "running"
    run.advance(1000)
    assert not test.run().exception
    assert "live.polled" not in test.session_state, "no browser has asked for it"

    test = opened(None)
    assert not test.exception
    test.session_state["run"] = ScriptedRun()
    assert not test.run().exception


def test_earlier_runs_in_their_colors_with_few_points_and_a_recording_stand_beside_a_live_one() -> None:
    run, other = ScriptedRun().advance(300), ScriptedRun().advance(300)
    laid = overlay(other, "depth 2")
    assert not opened(run, earlier=[laid], recorded=True).exception
    assert laid.color == ENCODINGS["learned"].color
    assert max(len(steps) for steps, _ in laid.columns.values()) <= 500


def test_polling_reaches_back_so_that_a_skipped_message_loses_nothing() -> None:
    run = ScriptedRun()
    steps: list[set[int]] = []
    for _ in range(30):
        run.advance(5)
        steps.append(set(poll(run, "scripted/a", "key")["columns"]["loss"][0]))
    received = set[int]().union(*steps[::8])
    assert received >= set(range(1, max(steps[24]) + 1)), "seven of eight messages lost, every step arrived"
    assert len(steps[-1]) <= 50, "and no message is the whole history again"
    again = poll(run, "scripted/b", "key")
    assert again["columns"]["loss"][0] == list(range(1, 151)), "a board that is mounted anew is told everything"
    assert "loss" in again["figures"]


def test_every_panel_has_a_title() -> None:
    drawn = dict.fromkeys(("attention", "heads"), ("attention", "pattern")) | {
        "encoding": ("matrix", "similarity"), "loss": ("loss", "perplexity"),
    }  # fmt: skip
    assert {part for name in get_args(PanelName) for part in drawn.get(name, (name,))} == set(TITLES)

"""Simulated sessions keep what a browser keeps: the values of widgets, the points of a board, and what its page must hear of."""

from __future__ import annotations

from typing import Any

import pytest
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.Selectbox_pb2 import Selectbox
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.load.page import Board, drawn, move


def news(last: int, step: int, state: str = "running") -> dict[str, Any]:
    return {"last": last, "status": {"state": state, "step": step, "problem": ""}}


def test_only_messages_that_bring_further_steps_count_as_updates_and_too_few_give_no_rate() -> None:
    board = Board("run")
    for message in (news(0, 0, "queued"), news(1, 0), news(5, 4), news(6, 4), news(9, 8), news(12, 10, "finished")):
        board.take(message)
    assert len(board.points) == 3
    assert board.ended
    assert board.updates_per_second is not None

    board = Board("run")
    board.take(news(5, 4))
    assert board.updates_per_second is None


def test_the_page_hears_of_an_end_once_and_not_of_a_place_in_the_queue() -> None:
    board = Board("run")
    board.take(news(1, 0))
    assert not board.tells("queued")
    board.take(news(5, 4, "finished"))
    assert board.tells("queued")
    assert not board.tells("queued")


def state_of(kind: str, widget: Any) -> WidgetState:
    state = drawn(kind, widget)
    assert state is not None
    return state


def moved(widget: Any, state: WidgetState, times: int) -> list[object]:
    """The values after each move."""
    values = list[object]()
    for _ in range(times):
        move(widget, state)
        values.append(getattr(state, state.WhichOneof("value")))
    return values


def test_a_number_goes_up_and_back_within_its_bounds_and_without_a_value_is_named() -> None:
    widget = NumberInput(id="n", label="Depth", default=2, min=1, max=2, step=1)
    assert moved(widget, state_of("number_input", widget), 3) == [1, 2, 1]
    assert state_of("number_input", NumberInput(id="n", default=2, value=5, set_value=True)).double_value == 5
    state = state_of("number_input", NumberInput(id="n", default=1))
    state.ClearField("double_value")
    with pytest.raises(ValueError, match="no value cannot be moved: Depth"):
        move(NumberInput(id="n", label="Depth"), state)


def test_a_choice_moves_to_the_next_and_from_the_last_to_the_first_and_segments_are_sent_by_what_they_show() -> None:
    widget = Selectbox(id="s", options=["a", "b"], default=0)
    state = state_of("selectbox", widget)
    assert state.string_value == "a"
    assert moved(widget, state, 2) == ["b", "a"]
    segments = [ButtonGroup.Option(content=content) for content in "xy"]
    state = state_of("button_group", ButtonGroup(id="g", options=segments, default=[1]))
    assert list(state.string_array_value.data) == ["y"]
    assert drawn("selectbox", Selectbox(id="s", options=["a"])) is None

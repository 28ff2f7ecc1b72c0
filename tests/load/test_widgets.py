"""Widgets of simulated sessions keep and change the values that a browser would send."""

from __future__ import annotations

import pytest
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.NumberInput_pb2 import NumberInput
from streamlit.proto.Selectbox_pb2 import Selectbox

from tests.load.widgets import drawn, move


def test_a_number_goes_up_and_back_within_its_bounds_and_without_a_value_is_named() -> None:
    widget = NumberInput(id="n", label="Depth", default=2, min=1, max=2, step=1)
    state = drawn("number_input", widget)
    assert state is not None
    values = []
    for _ in range(3):
        move(widget, state)
        values.append(state.double_value)
    assert values == [1, 2, 1]

    state = drawn("number_input", NumberInput(id="n", default=2, value=5, set_value=True))
    assert state is not None
    assert state.double_value == 5

    widget = NumberInput(id="n", label="Depth")
    state = drawn("number_input", NumberInput(id="n", default=1))
    assert state is not None
    state.ClearField("double_value")
    with pytest.raises(ValueError, match="no value cannot be moved: Depth"):
        move(widget, state)


def test_a_choice_moves_to_the_next_and_from_the_last_to_the_first_and_segments_are_sent_by_what_they_show() -> None:
    widget = Selectbox(id="s", options=["a", "b"], default=0)
    state = drawn("selectbox", widget)
    assert state is not None
    values = [state.string_value]
    for _ in range(2):
        move(widget, state)
        values.append(state.string_value)
    assert values == ["a", "b", "a"]

    widget = ButtonGroup(
        id="g", options=[ButtonGroup.Option(content="x"), ButtonGroup.Option(content="y")], default=[1]
    )
    state = drawn("button_group", widget)
    assert state is not None
    assert list(state.string_array_value.data) == ["y"]

    assert drawn("selectbox", Selectbox(id="s", options=["a"])) is None

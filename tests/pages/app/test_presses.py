"""Presses that a script tells again and again are each taken once."""

import streamlit as st

from pages.parts.app.frame import last_received, received

KEY = "test.received"


def test_what_no_script_tells_is_no_press() -> None:
    for told in (5, "x", {"number": 1}, [5, "x", {}, {"number": "1"}, {"number": None}]):
        assert received(told, KEY) == []


def test_each_press_is_taken_once_and_in_order_however_often_it_is_told() -> None:
    st.session_state.pop(KEY, None)
    presses = [{"number": number, "key": key} for number, key in ((7, "next"), (8, "next"), (9, "3"))]
    assert (received(None, KEY), last_received(KEY)) == ([], 0)
    assert received(presses[:2], KEY) == presses[:2]
    assert received(presses, KEY) == presses[2:]
    assert (received(presses, KEY), last_received(KEY)) == ([], 9)

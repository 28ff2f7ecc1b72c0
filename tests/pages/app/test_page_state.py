"""A page's settings in the session: a change by a widget, and one whose widget was set anew meanwhile."""

from __future__ import annotations

import streamlit as st

from engine.settings.fields import setting
from pages.parts.app.page_state import ModelSettings, PageState


class Some(PageState):
    number: int = setting(3, label="Number", help="A number.", ge=1, le=9)


def test_a_changed_widget_changes_the_value_and_one_that_was_set_anew_does_not() -> None:
    settings = ModelSettings("test_page_state", Some)
    bound = settings.bound("number")
    st.session_state[bound["key"]] = 5
    bound["on_change"](*bound["args"])
    assert settings.values() == {"number": 5}
    settings.put({"number": 7})
    bound["on_change"](*bound["args"])
    assert settings.values() == {"number": 7}

"""A page's settings in the session: a change by a widget, and one whose widget was set anew meanwhile."""

import streamlit as st
from streamlit.testing.v1 import AppTest

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


def test_the_message_of_a_widget_says_its_value_whichever_script_run_brings_it() -> None:
    """A script run's messages are lost where the next one begins before they were sent: no later one may count on them."""

    def page() -> None:
        import streamlit as st

        from pages.parts.app.page_state import ModelSettings
        from tests.pages.app.test_page_state import Some

        settings = ModelSettings("some", Some)
        settings.widget("number")
        st.button("seven", on_click=settings.put, args=({"number": 7},))
        st.button("two", on_click=settings.fill, args=({"number": 2},))
        st.button("nothing")

    def shown(app: AppTest) -> list[tuple[float, float, bool]]:
        return [(box.value, box.proto.default, box.proto.set_value) for box in app.number_input]

    app = AppTest.from_function(page).run()
    assert shown(app) == [(3, 3, False)]
    app.number_input[0].set_value(4).run()
    assert shown(app) == [(4, 4, False)]
    for button, value in ((0, 7), (2, 7), (1, 2), (2, 2)):
        app.button[button].click().run()
        assert shown(app) == [(value, value, False)]

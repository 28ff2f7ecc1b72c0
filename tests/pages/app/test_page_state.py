from urllib.parse import parse_qsl, urlsplit

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from engine.config.run_config import RunConfig, settings_for
from engine.foundation.provenance import stamp
from engine.settings.fields import setting
from pages.parts.app.page_state import ModelSettings, PageState, offer_file
from pages.parts.encodings.compare import FOLDED
from pages.parts.lab.form import ICONS
from tests.pages.looking import Open


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
    """A script run's messages are lost if the next one begins before they were sent: no later one may count on them."""

    def page() -> None:
        import streamlit as st

        from pages.parts.app.page_state import ModelSettings
        from tests.pages.app.test_page_state import Some

        settings = ModelSettings("some", Some)
        settings.widget("number")
        st.button("seven", on_click=settings.put, args=({"number": 7},))
        st.button("two", on_click=settings.fill, args=({"number": 2},))
        st.button("nothing")

    def box_values(app: AppTest) -> list[tuple[float, float, bool]]:
        return [(box.value, box.proto.default, box.proto.set_value) for box in app.number_input]

    app = AppTest.from_function(page).run()
    assert box_values(app) == [(3, 3, False)]
    app.number_input[0].set_value(4).run()
    assert box_values(app) == [(4, 4, False)]
    for button, value in ((0, 7), (2, 7), (1, 2), (2, 2)):
        app.button[button].click().run()
        assert box_values(app) == [(value, value, False)]


CHOSEN = {"pos_encoding": "rope", "n_layers": "3", "steps": "70", "learning_rate": "0.02", "d_head": "6"}
NAMES = [*(row.name for row in settings_for(None, CHOSEN["pos_encoding"])), "preset"]


def page() -> None:
    import streamlit as st

    from pages.parts.app.page_state import take_link, write_link, written_query

    link = take_link("page")
    if link:
        st.session_state["n"] = link.get("n", "1")
    st.text(f"{link is not None} {written_query('page')}")
    st.session_state.setdefault("n", "1")
    if st.button("More"):
        st.session_state["n"] += "1"
    st.text(st.session_state["n"])
    write_link("page", {"n": st.session_state["n"]} if st.session_state["n"] != "1" else {})


def open_app(**query: str) -> AppTest:
    app = AppTest.from_function(page)
    app.query_params.update(query)
    return app.run()


def test_a_link_counts_once_and_what_the_page_wrote_is_none() -> None:
    app = open_app(n="5")
    assert app.text[0].value == "True None"
    assert app.run().text[0].value == "False {'n': '5'}"
    app.button[0].click().run()
    assert (app.text[1].value, dict(app.query_params)) == ("51", {"n": "51"})
    assert app.run().text[0].value == "False {'n': '51'}"


def test_another_link_is_taken_again_and_an_emptied_address_is_written_again() -> None:
    app = open_app(n="5").run()
    app.query_params["n"] = "7"
    assert app.run().text[0].value.startswith("True")
    assert app.text[1].value == "7"

    app = open_app(n="5").run()
    app.query_params.clear()
    app.run()
    assert app.text[1].value == "5", "an empty address asks for nothing"
    assert dict(app.query_params) == {"n": "5"}


def test_a_click_that_overtakes_the_address_brings_the_old_one_which_is_no_link() -> None:
    app = open_app(n="5")
    app.button[0].click().run()
    app.query_params["n"] = "5"  # as of before the first click
    app.button[0].click().run()
    assert app.text[0].value.startswith("False")
    assert (app.text[1].value, dict(app.query_params)) == ("511", {"n": "511"})


# Hiding and locking


def form() -> None:
    """The lab's settings alone."""
    from pages.parts.app.in_markdown import say_ignored
    from pages.parts.lab.form import main_settings, other_settings
    from pages.parts.lab.state import SETTINGS

    say_ignored(SETTINGS.open_address()[1])
    main_settings()
    other_settings()
    SETTINGS.write_address(SETTINGS.query())


def open_form(**query: str) -> AppTest:
    app = AppTest.from_function(form)
    for group in ("all", *ICONS):
        app.session_state[f"group.{group}"] = True
    app.query_params.update(CHOSEN | query)
    return app.run()


def widgets_in(app: AppTest) -> dict[str, bool]:
    """The settings that have a widget, and True if it is disabled."""
    kinds = (app.selectbox, app.number_input, app.toggle, app.text_input)
    return {str(one.key).removeprefix("set."): one.disabled for kind in kinds for one in kind}


def test_without_them_every_setting_is_drawn_and_show_leaves_only_what_it_names() -> None:
    app = open_form()
    assert widgets_in(app) == dict.fromkeys(NAMES, False)
    assert CHOSEN.items() <= dict(app.query_params).items()

    assert widgets_in(open_form(show="pos_encoding,dropout", lock="dropout")) == {
        "pos_encoding": False,
        "dropout": True,
    }
    assert widgets_in(open_form(show="n_heads,steps", hide="steps")) == {"n_heads": False}
    folded = open_form(show="n_heads")
    assert not folded.get("expandable"), "what would be empty is not drawn"


@pytest.mark.parametrize("first", range(4))
def test_hide_removes_widgets_and_lock_disables_them(first: int) -> None:
    """Every fourth is hidden and the one after it locked; all of them have their turn."""
    hidden, locked = NAMES[first::4], NAMES[(first + 1) % 4 :: 4]
    query, there = (
        {"hide": ",".join(hidden), "lock": ",".join(locked)},
        {name: name in locked for name in NAMES if name not in hidden},
    )
    address = dict(open_form().query_params)
    app = open_form(**query)
    assert widgets_in(app) == there
    assert not app.warning
    assert app.session_state["form"] == RunConfig().replace(**CHOSEN).flat()
    assert dict(app.query_params) == address | query, "the address keeps it"
    app.run()
    assert widgets_in(app) == there


def test_names_that_are_no_controls_are_named_in_one_sentence_and_what_is_hidden_is_written_back() -> None:
    app = open_form(hide="zork, n_heads,,# x,n_heads", lock="rope")
    assert [box.value for box in app.warning] == [
        "Ignored in the link: `hide` is `zork, # x`; it must be one or more names of controls on this page, separated by commas.",
        "Ignored in the link: `lock` is `rope`; it must be one or more names of controls on this page, separated by commas.",
    ]
    assert widgets_in(app).keys() == set(NAMES) - {"n_heads"}
    assert dict(app.query_params)["hide"] == "n_heads"


def test_a_prepared_experiment_opens_with_the_other_controls_hidden(open_page: Open) -> None:
    query = {"preset": "bag-of-symbols", "show": "pos_encoding,steps", "lock": "steps"}
    app = open_page("lab.py", **query)
    assert widgets_in(app).keys() == {"pos_encoding", "steps", "pace", "lab.locked"}, (
        "what is shared has a switch of its own"
    )
    assert app.number_input(key="set.steps").disabled
    app.selectbox(key="set.pos_encoding").select("rope").run()
    link = next(box.value for box in app.get("code") if "v=" in box.value)
    shared = dict(parse_qsl(urlsplit(link).query))
    assert (shared["show"], shared["lock"], shared["pos_encoding"]) == ("pos_encoding,steps", "steps", "rope")
    assert dict(app.query_params)["show"] == "pos_encoding,steps"


def _unfold(app: AppTest, page: str) -> None:
    """Open the settings of a page that folds them."""
    if page == "encodings.py":
        app.session_state[FOLDED] = True
        app.run()


@pytest.mark.parametrize(
    ("page", "prefix", "hidden", "locked"),
    [
        ("cost.py", "costs.set.", "n_heads", "d_model"),
        ("encodings.py", "encodings.set.", "n_heads", "d_model"),
    ],
)
def test_other_pages_hide_and_lock_too(open_page: Open, page: str, prefix: str, hidden: str, locked: str) -> None:
    app = open_page(page, hide=hidden, lock=locked)
    _unfold(app, page)
    assert app.number_input(key=prefix + locked).disabled
    assert prefix + hidden not in {one.key for one in app.number_input}
    assert dict(app.query_params) == {"hide": hidden, "lock": locked}
    app.switch_page("start.py").run()
    app.switch_page(page).run()
    _unfold(app, page)
    assert app.number_input(key=prefix + locked).disabled, "as long as the session lasts"


def test_the_name_of_an_offered_file_tells_version_commit_and_day(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[tuple[object, ...]] = []
    monkeypatch.setattr(st, "download_button", lambda *given, **_: offered.append(given))
    offer_file("Numbers", str, "heads.csv")
    (given,) = offered
    assert given[2:] == (f"heads-{stamp()}.csv", "text/csv")

"""A link is taken at its word once; from then on the page writes the address."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def page() -> None:
    """One setting, in the session and in the address."""
    import streamlit as st

    from pages.parts.app.address import take_link, write_link, written

    link = take_link("page")
    if link:
        st.session_state["n"] = link.get("n", "1")
    st.text(f"{link is not None} {written('page')}")
    st.session_state.setdefault("n", "1")
    if st.button("More"):
        st.session_state["n"] += "1"
    st.text(st.session_state["n"])
    write_link("page", {"n": st.session_state["n"]} if st.session_state["n"] != "1" else {})


def opened(**query: str) -> AppTest:
    app = AppTest.from_function(page)
    app.query_params.update(query)
    return app.run()


def address(app: AppTest) -> dict[str, str]:
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def test_a_link_counts_once_and_what_the_page_wrote_is_none() -> None:
    app = opened(n="5")
    assert app.text[0].value == "True None"
    assert app.run().text[0].value == "False {'n': '5'}"
    app.button[0].click().run()
    assert app.text[1].value == "51"
    assert address(app) == {"n": "51"}
    assert app.run().text[0].value == "False {'n': '51'}"


def test_another_link_is_taken_again_and_an_emptied_address_is_written_again() -> None:
    app = opened(n="5").run()
    app.query_params["n"] = "7"
    assert app.run().text[0].value.startswith("True")
    assert app.text[1].value == "7"

    app = opened(n="5").run()
    app.query_params.clear()
    app.run()
    assert app.text[1].value == "5", "an empty address asks for nothing"
    assert address(app) == {"n": "5"}


def test_a_click_that_overtakes_the_address_brings_the_old_one_which_is_no_link() -> None:
    app = opened(n="5")
    app.button[0].click().run()
    app.query_params["n"] = "5"  # as of before the first click
    app.button[0].click().run()
    assert app.text[0].value.startswith("False")
    assert app.text[1].value == "511"
    assert address(app) == {"n": "511"}

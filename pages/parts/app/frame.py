"""The frame around every page: the bar with its places, the tabs of the present place, and the glossary as a drawer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.navigation.page import Page

from engine.foundation.glossary import TERMS
from pages.parts.app.glossary import show_terms
from pages.parts.app.places import FIRST, GLOSSARY, PLACES, Place, View, place_of

HERE = Path(__file__).parent
MARKED = """<style>
:is([data-testid="stTopNavLink"], [data-testid="stSidebarNavLink"])[href$="/{address}"] {{
  background: color-mix(in srgb, currentColor 12%, transparent); & span {{ font-weight: 600; }} }}
</style>"""
"""Streamlit marks an entry of the bar on its own page alone, and not on the other views of the place."""


def navigation() -> Page:
    """The page that the address asks for. In the bar stands the first view of each place, by the name of the place."""
    pages = [_page(view, place) for place in PLACES for view in place.views]
    return st.navigation(
        [*pages, st.Page(GLOSSARY.file, url_path=GLOSSARY.address, visibility="hidden")], position="top"
    )


def _page(view: View, place: Place) -> Page:
    first = view is place.views[0]
    return st.Page(
        view.file, title=place.title if first else view.title, icon=place.icon, url_path=view.address,
        default=view is FIRST, visibility="visible" if first else "hidden",
    )  # fmt: skip


def show_frame(address: str) -> None:
    """The row above a page: a tab for each view of its place, and the button of the glossary. Unseen: what waits for a lost server."""
    place = place_of(address)
    views = place.views if place and len(place.views) > 1 else ()
    st.html(f"<style>{(HERE / 'frame.css').read_text('utf-8')}</style>")
    with st.container(key="frame-away"):
        _script("away")(key="frame.away", on_back_change=_nothing)
    address = address or FIRST.address
    if views and address != views[0].address:
        st.html(MARKED.format(address="" if views[0] is FIRST else views[0].address))
    with st.container(
        horizontal=True, gap="small", vertical_alignment="center", key="frame" if views else "frame-alone"
    ):
        for view in views:
            st.page_link(view.file, label=view.title)
        if address != GLOSSARY.address:
            names = {view.address: view.title for view in views}
            _glossary(place.title if place else "", names.get(address, ""))


def unseen_title(words: str) -> None:
    """The title of a page that has no room for one, for those who find their way by headings."""
    with st.container(key="frame-unseen"):
        st.title(words, anchor=False)


@st.fragment
def _glossary(place: str, current: str) -> None:
    """The button, and whatever link to a term is followed on the page. ``current``: the name of this page's tab, if any."""
    with st.container(horizontal=True, key="frame-end"):
        pressed = st.button(GLOSSARY.title, icon=":material/dictionary:", type="tertiary")
        followed = _script("frame")(
            key="frame.script", data={"place": place, "current": current}, on_term_change=_nothing
        )
    if pressed or followed.term in TERMS:
        _drawer(None if pressed else followed.term)


@st.dialog(GLOSSARY.title)
def _drawer(term: str | None) -> None:
    words = st.text_input("Search", placeholder="for example mask", key="frame.search")
    show_terms(term, words, columns=1)


@st.cache_resource
def _script(name: str) -> Any:
    return st.components.v2.component(f"attention_lab_{name}", js=(HERE / f"{name}.js").read_text("utf-8"))


def _nothing() -> None:
    """A placeholder callback: what a script tells is read where it is shown."""

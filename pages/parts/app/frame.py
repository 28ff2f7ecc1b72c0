"""The frame around every page: the bar with its places, the tabs of the present place, and the glossary as a drawer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TypeVarTuple

import streamlit as st
from streamlit.navigation.page import Page

from engine.foundation.glossary import TERMS
from engine.settings.names import meant
from pages.parts.app.in_markdown import show_terms
from pages.parts.app.scripts import joined


@dataclass(frozen=True)
class View:
    """One page of a place."""

    title: str
    file: str
    """The page's file in ``pages/``; links name it."""

    @property
    def address(self) -> str:
        return PurePath(self.file).stem.replace("_", "-")


@dataclass(frozen=True)
class Place:
    """An entry of the bar, which leads to the first of its views."""

    title: str
    icon: str
    views: tuple[View, ...]


def _place(title: str, icon: str, **views: str) -> Place:
    """``views``: the name of each tab, by the name of its file."""
    return Place(title, f":material/{icon}:", tuple(View(tab, f"{name}.py") for name, tab in views.items()))


PLACES = (
    _place("Start", "home", start="Start"),
    _place("Lab", "science", lab="Train", attention="Attention", text="Text"),
    _place(
        "What goes wrong",
        "bug_report",
        issues="Issues",
        answer="The answer",
        lessons="Lessons",
        memory_and_time="Memory and time",
    ),
    _place("Encodings", "pin_drop", encodings="Compare", design="Design"),
    _place("Notebooks", "code_blocks", notebooks="All notebooks", notebook="One notebook"),
)
FIRST = PLACES[0].views[0]
"""The page that the bare address opens, whose links have an empty address."""
STORY = View("Reverse in six steps", "story.py")
"""The earlier address of a lesson, to which it leads."""
GLOSSARY = View("Glossary", "glossary.py")
"""A drawer on every page, and so in no place; its address opens the drawer."""
UNLISTED = (GLOSSARY, STORY, View("Class", "classroom.py"), View("Slide", "slide.py"))
"""The pages in no place: links and lessons lead to them."""


def place_at(address: str) -> Place | None:
    """The place with the view of that address; None for those in no place. The first page's address is empty."""
    views = {view.address: place for place in PLACES for view in place.views}
    return views.get(address) if address else PLACES[0]


HERE = Path(__file__).parent
SCREEN = "frame.screen"
"""Session key: the name of the screen that a page of several shows; the browser scrolls up when it becomes another one."""
REQUESTED_TERM = "frame.asked"
"""The session key of what a link to the glossary asks for, until the drawer is open there."""
SEARCH = "frame.search"


def navigation() -> Page:
    """The page that the address asks for. In the bar stands the first view of each place, by the name of the place."""
    pages = [_page(view, place) for place in PLACES for view in place.views]
    unlisted = [st.Page(view.file, title=view.title, url_path=view.address, visibility="hidden") for view in UNLISTED]
    return st.navigation([*pages, *unlisted], position="top")


def _page(view: View, place: Place) -> Page:
    first = view is place.views[0]
    return st.Page(
        view.file, title=place.title if first else view.title, icon=place.icon, url_path=view.address,
        default=view is FIRST, visibility="visible" if first else "hidden",
    )  # fmt: skip


def show_frame(address: str) -> None:
    """The row above a page: a tab for each view of its place, and the button of the glossary. Unseen: what waits for a lost server."""
    place, address = place_at(address), address or FIRST.address
    views = place.views if place and len(place.views) > 1 else ()
    within = views[0].address if views and address != views[0].address else "none"
    with st.container(key="frame-away"), st.container(key=f"frame-in-{within}"):
        listening_script(HERE / "away.js")(key="frame.away", on_back_change=nothing)
    key = "frame" if views else "frame-alone"
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=key):
        for view in views:
            st.page_link(view.file, label=view.title)
        names = {view.address: view.title for view in views}
        as_fragment(_glossary, place.title if place else "", names.get(address, ""))


def _glossary(place: str, current: str) -> None:
    """The button, and whatever link to a term is followed on the page. ``current``: the name of this page's tab, if any."""
    with st.container(horizontal=True, key="frame-end"):
        pressed = st.button(GLOSSARY.title, icon=":material/dictionary:", type="tertiary")
        here = {"place": place, "current": current, "screen": st.session_state.get(SCREEN, "")}
        followed = listening_script(HERE / "frame.js")(key="frame.script", on_term_change=nothing, data=here)
    linked = st.session_state.pop(REQUESTED_TERM, None)
    if pressed or linked is not None or followed.term in TERMS:
        _drawer(linked if linked in TERMS else followed.term)


def open_glossary(term: str) -> None:
    """Open the drawer on the next page, at a term by its slug; what is none is searched for."""
    slug = meant(term, TERMS)
    st.session_state[REQUESTED_TERM] = slug
    if slug not in TERMS:
        st.session_state[SEARCH] = slug


@st.dialog(GLOSSARY.title, width=544, position="right")
def _drawer(term: str | None) -> None:
    show_terms(term, st.text_input("Search", placeholder="for example mask", key=SEARCH))


@st.cache_resource
def listening_script(file: Path) -> Any:
    """A component that draws nothing: its script listens on the page, and tells what it hears."""
    return st.components.v2.component(f"attention_lab_{file.stem}", js=joined(file))


def nothing() -> None:
    """A callback that does nothing. Streamlit keeps a message of a component only where a callback is given; the page reads the message
    itself, where it draws the component."""


# Parts that run again without the rest of the page


Arguments = TypeVarTuple("Arguments")


def as_fragment(draw: Callable[[*Arguments], None], *arguments: *Arguments, every: float | None = None) -> None:
    """Draw a part of the page now, again when a widget in it changes, and again after each ``every`` seconds; None for no timer. It is a
    fragment also without a timer: a part that is one only in some reruns has its components mounted anew.

    The page makes a container for it. A fragment that runs again right after the page discards its messages that were not sent yet
    (Streamlit's ``ForwardMsgQueue.clear``): were its place among them, the browser would refuse what follows, "Bad delta path index".
    """
    with st.container():
        st.fragment(draw, run_every=every)(*arguments)


# Presses of keys and of parts of a picture, as a component's script tells them: none is lost, and none counts twice.
#
# While a page draws, the browser keeps only the latest message of a component. So each message repeats all presses that the page has not
# confirmed, each with its number (``pages/parts/boards/base/script/presses.js``).


def received(message: object, name: str) -> list[Mapping[str, Any]]:
    """The presses of a message that were in none before, in their order. Call it once per message, in its callback. ``name``: the session
    key under which the number of the last one is kept. What no script tells is no press."""
    presses: list[Mapping[str, Any]] = (
        [each for each in message if isinstance(each, dict)] if isinstance(message, list) else []
    )
    numbered = [press for press in presses if isinstance(press.get("number"), int)]
    new = [press for press in numbered if press["number"] > last_received(name)]
    if new:
        st.session_state[name] = new[-1]["number"]
    return new


def last_received(name: str) -> int:
    """The number to send to the script: it repeats no press up to this one."""
    return int(st.session_state.get(name, 0))

"""The frame around every page: the bar, earlier addresses, and the glossary as a drawer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVarTuple

import streamlit as st
from streamlit.navigation.page import Page

from engine.foundation.glossary import TERMS
from engine.settings.names import meant
from pages.parts.app.earlier import EARLIER, moved
from pages.parts.app.in_markdown import show_terms
from pages.parts.app.scripts import joined


@dataclass(frozen=True)
class AppPage:
    """One page of the app."""

    title: str
    address: str
    """Without a slash; also the name of the page's file."""
    icon: str = ""
    """Of its entry in the bar; without one it is in none: links and lessons lead to it."""

    @property
    def file(self) -> str:
        """The page's file in ``pages/``; links name it."""
        return f"{self.address}.py"


PAGES = (
    AppPage("Start", "start", "home"),
    AppPage("Lab", "lab", "science"),
    AppPage("Questions", "questions", "bug_report"),
    AppPage("Teach", "teach", "school"),
    AppPage("Encodings", "encodings", "pin_drop"),
    AppPage("Cost", "cost", "timer"),
    AppPage("Notebooks", "notebooks", "code_blocks"),
    AppPage("Depth", "depth"),
    AppPage("Class", "classroom"),
    AppPage("Slide", "slide"),
)
FIRST = PAGES[0]
"""The page that the bare address opens, whose links have an empty address."""


def file_at(address: str) -> str:
    """The file of the page with this address, as Streamlit has it: empty for the first page."""
    return f"{address or FIRST.address}.py"


def address_of(file: str) -> str:
    """What links to the page of this file have behind the app's address; empty for the first page."""
    return "" if file == FIRST.file else file.removesuffix(".py")


HERE = Path(__file__).parent
SCREEN = "frame.screen"
"""Session key: the name of the screen that a page of several shows; the browser scrolls up when it becomes another one."""
GLOSSARY = "Glossary"
TERM = "term"
"""What a link to a term has in its query, on whatever page."""
REQUESTED_TERM = "frame.asked"
"""The session key of the term that a link asks for, until the drawer is open there."""
SEARCH = "frame.search"


def navigation() -> Page:
    """The page that the address asks for. An earlier address leads on, and the script run ends here."""
    pages = [
        st.Page(
            page.file, title=page.title, icon=f":material/{page.icon}:" if page.icon else None, url_path=page.address,
            default=page is FIRST, visibility="visible" if page.icon else "hidden",
        )
        for page in PAGES
    ]  # fmt: skip
    earlier = [st.Page(nothing, title=address, url_path=address, visibility="hidden") for address in EARLIER]
    page = st.navigation([*pages, *earlier], position="top")
    query = st.query_params.to_dict()
    if now := moved(page.url_path, query):
        st.switch_page(now.file, query_params=now.query(query))
    return page


def show_frame() -> None:
    """The button of the glossary, beside the page's title. Unseen: what waits for a lost server."""
    if TERM in st.query_params:
        open_glossary(st.query_params.pop(TERM))
    with st.container(key="frame-disconnected"):
        listening_script(HERE / "disconnected.js")(key="frame.disconnected", on_back_change=nothing)
    with st.container(horizontal=True, key="frame"):
        as_fragment(_glossary)


def _glossary() -> None:
    """The button, and whatever link to a term is followed on the page."""
    with st.container(horizontal=True, key="frame-end"):
        pressed = st.button(GLOSSARY, icon=":material/dictionary:", type="tertiary")
        here = {"screen": st.session_state.get(SCREEN, "")}
        followed = listening_script(HERE / "frame.js")(key="frame.script", on_term_change=nothing, data=here)
    linked = st.session_state.pop(REQUESTED_TERM, None)
    if pressed or linked is not None or followed.term in TERMS:
        _drawer(linked if linked in TERMS else followed.term)


def open_glossary(term: str) -> None:
    """Open the drawer, at a term by its slug; what is none is searched for."""
    slug = meant(term, TERMS)
    st.session_state[REQUESTED_TERM] = slug
    if slug not in TERMS:
        st.session_state[SEARCH] = slug


@st.dialog(GLOSSARY, width=544, position="right")
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

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVarTuple

import streamlit as st
from streamlit.navigation.page import Page

from engine.foundation.glossary import TERMS
from engine.settings.names import resolve_name
from pages.parts.app.earlier import EARLIER, redirect
from pages.parts.app.in_markdown import show_terms
from pages.parts.app.scripts import joined


@dataclass(frozen=True)
class AppPage:
    title: str
    address: str  # without a slash; also the name of the page's file
    icon: str = ""  # a page without one is not in the bar

    @property
    def file(self) -> str:
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
"""The page of the bare address; links to it have an empty address."""


def file_at(address: str) -> str:
    """Return the file of the page with this address. Streamlit's address of the first page is empty."""
    return f"{address or FIRST.address}.py"


def address_of(file: str) -> str:
    """Return the address of the page with this file, without a slash; empty for the first page."""
    return "" if file == FIRST.file else file.removesuffix(".py")


FOLDER = Path(__file__).parent
# session key of the visible screen of a page that has several; the browser scrolls up when it changes
SCREEN = "frame.screen"
GLOSSARY = "Glossary"
TERM = "term"  # a query parameter on any page
REQUESTED_TERM = "frame.requested_term"  # session key of the term in a link, until the drawer opens there
SEARCH = "frame.search"


def navigation() -> Page:
    """Return the page of the address. An earlier address redirects, which ends the script run."""
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
    if now := redirect(page.url_path, query):
        st.switch_page(now.file, query_params=now.query(query))
    return page


def show_frame() -> None:
    if TERM in st.query_params:
        open_glossary(st.query_params.pop(TERM))
    with st.container(key="frame-disconnected"):  # invisible until the server is lost
        listening_script(FOLDER / "disconnected.js")(key="frame.disconnected", on_back_change=nothing)
    with st.container(horizontal=True, key="frame"):
        as_fragment(_glossary)


def _glossary() -> None:
    with st.container(horizontal=True, key="frame-end"):
        pressed = st.button(GLOSSARY, icon=":material/dictionary:", type="tertiary")
        here = {"screen": st.session_state.get(SCREEN, "")}
        followed = listening_script(FOLDER / "frame.js")(key="frame.script", on_term_change=nothing, data=here)
    linked = st.session_state.pop(REQUESTED_TERM, None)
    if pressed or linked is not None or followed.term in TERMS:
        _drawer(linked if linked in TERMS else followed.term)


def open_glossary(term: str) -> None:
    """Open the drawer at a term, by its slug; any other text is searched for."""
    slug = resolve_name(term, TERMS)
    st.session_state[REQUESTED_TERM] = slug
    if slug not in TERMS:
        st.session_state[SEARCH] = slug


@st.dialog(GLOSSARY, width=544, position="right")
def _drawer(term: str | None) -> None:
    show_terms(term, st.text_input("Search", placeholder="for example mask", key=SEARCH))


@st.cache_resource
def listening_script(file: Path) -> Any:
    """A component that draws nothing: its script listens on the page and sends messages."""
    return st.components.v2.component(f"attention_lab_{file.stem}", js=joined(file))


def nothing() -> None:
    """A callback for a component whose message the page reads where it draws the component: Streamlit keeps a message
    only if there is a callback."""


# Parts that run again without the rest of the page


Arguments = TypeVarTuple("Arguments")


def as_fragment(draw: Callable[[*Arguments], None], *arguments: *Arguments, every: float | None = None) -> None:
    """Draw a part of the page now, again when a widget in it changes, and every ``every`` seconds; None for no timer.

    It is a fragment also without a timer: Streamlit mounts the components of a part again if it is a fragment only in
    some reruns.
    """
    # A fragment that runs again right after the page discards its messages that were not sent yet (Streamlit's
    # ``ForwardMsgQueue.clear``). If its container were among them, the browser would refuse all later ones: "Bad delta
    # path index". So the page makes the container.
    with st.container():
        st.fragment(draw, run_every=every)(*arguments)


# Presses of keys and of parts of a picture, sent by a component's script: none is lost, and none counts twice.
#
# While a page draws, the browser keeps only the latest message of a component. So each message repeats all presses that
# the page has not confirmed, each with its number (``pages/parts/boards/base/script/presses.js``).


def received(message: object, name: str) -> list[Mapping[str, Any]]:
    """Return the presses of a message that no earlier one had, in their order. Call it once per message, in its
    callback. ``name``: session key of the last one's number."""
    presses: list[Mapping[str, Any]] = (
        [each for each in message if isinstance(each, dict)] if isinstance(message, list) else []
    )
    numbered = [press for press in presses if isinstance(press.get("number"), int)]
    new = [press for press in numbered if press["number"] > last_received(name)]
    if new:
        st.session_state[name] = new[-1]["number"]
    return new


def last_received(name: str) -> int:
    return int(st.session_state.get(name, 0))

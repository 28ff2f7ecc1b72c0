"""A student's hand-in: what this browser's reader guessed, ran and found, in that order, as one file to save. It holds nothing else. The
server keeps it in memory alone, so that a reload loses nothing."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from threading import Lock

import streamlit as st
from markupsafe import Markup

from engine.experiments.classroom import MOST_STUDENTS
from pages.parts.app.setting_widget import offer_file
from pages.parts.app.visitor import here, visitor
from pages.parts.stage.document import document, html, joined

MOST_VISITORS = 2 * MOST_STUDENTS
"""The most visitors whose hand-ins are kept, those of one network half of it: a full class, and as many others. Of more, the one is
dropped whose page wrote longest ago, first of those who have no page open."""
NAME, OWN = "name", "own"
MOST_LETTERS = 5000
NO_FIGURE = Markup()
NOTHING_YET = "It lists what you guess, run and find. There is nothing yet."


@dataclass(frozen=True)
class Note:
    """A question or a run of this session."""

    title: str
    question: str = ""
    guessed: str = ""
    """The guess that stood before the result was shown; empty for none."""
    ran: str = ""
    found: str = ""
    """What came out, as it was shown; empty while there is no result."""
    figure: Markup = NO_FIGURE


@dataclass(frozen=True)
class Kept:
    """The hand-in of a visitor so far."""

    network: str = ""
    notes: dict[str, Note] = field(default_factory=dict)
    """By their keys."""
    words: dict[str, str] = field(default_factory=dict)
    """The texts that the reader typed, by the names of their boxes."""
    forgotten: dict[str, Note] = field(default_factory=dict)
    """The notes of an earlier reader of the same browser, which pages that still show them would write again."""


_kept = OrderedDict[str, Kept]()
"""The hand-ins by their visitors, the one at the end whose page wrote last. Guarded by ``_lock``."""
_lock = Lock()


def kept_of(visitor_id: str) -> Kept:
    return _kept.get(visitor_id, Kept())


def write_down(key: str, note: Note) -> None:
    """Note what happened under its key, in place of what was noted before. The guess and the result of a first showing stay where the
    reader guesses again or runs again without an end."""
    whose = visitor()
    with _lock:
        if whose.id not in _kept:
            _make_room(whose.network)
        kept = _kept.setdefault(whose.id, Kept(whose.network))
        _kept.move_to_end(whose.id)
    earlier = kept.notes.get(key)
    if earlier is not None and earlier.found:
        if not note.found:
            return
        note = replace(note, guessed=earlier.guessed)
    if note != kept.forgotten.get(key):
        kept.notes[key] = note


def _make_room(network: str) -> None:
    """Drop a hand-in where one more from this network, or from anywhere, is too many."""
    near = [name for name, kept in _kept.items() if network and kept.network == network]
    names = near if len(near) >= MOST_VISITORS // 2 else list(_kept) if len(_kept) >= MOST_VISITORS else []
    if names:
        _kept.pop(next((name for name in names if not here(name)), names[0]))


def hand_in(notes: Iterable[Note], words: Mapping[str, str]) -> str:
    name, own = words.get(NAME, "").strip(), words.get(OWN, "").strip()
    head = html("<h1>Hand-in</h1><p class=line>{}</p>", f"Name: {name}")
    said = html("<h2>In my own words</h2><p class=own>{}</p>", own) if own else ""
    # A list, since another tab may add a note meanwhile.
    rows = joined(_section(place, note) for place, note in enumerate(list(notes), start=1))
    return document(f"Hand-in {name}".strip(), html("{}{}{}", head, rows, said))


def _section(place: int, note: Note) -> Markup:
    guessed = (note.guessed or "no guess before the result") if note.question else ""
    found = note.found or ("it had not ended when it was last looked at" if note.ran else "")
    lines = (("Guessed", guessed), ("Ran", note.ran or "nothing yet"), ("Found", found))
    told = joined(html("<p><b>{}:</b> {}</p>", label, words) for label, words in lines if words)
    return html("<section><h2>{}. {}</h2><p>{}</p>{}{}</section>", place, note.title, note.question, told, note.figure)


def offer_hand_in() -> None:
    """The boxes for a name and for words of one's own, and the file."""
    kept = kept_of(visitor().id)
    st.markdown("**Your hand-in**")
    if not kept.notes:
        st.caption(NOTHING_YET)
        return
    _box(st.text_input, "Name (may stay empty)", kept.words, NAME, 100)
    _box(st.text_area, "In your own words: what did you find, and why is it so?", kept.words, OWN, MOST_LETTERS)
    with st.container(horizontal=True):
        make = partial(hand_in, kept.notes.values(), kept.words)  # with what was typed until the file is asked for
        offer_file("Hand-in (HTML)", make, "hand-in.html", ":material/assignment_turned_in:")
        st.button("Begin anew", icon=":material/restart_alt:", type="tertiary", on_click=_forget, args=(kept,))
    st.caption("What you guessed, ran and found in this browser. Save it: when the app is started anew, it is gone.")


def _forget(kept: Kept) -> None:
    """Another reader begins in this browser."""
    kept.forgotten.update(kept.notes)
    kept.notes.clear()
    kept.words.clear()
    for name in (NAME, OWN):
        st.session_state.pop(f"hand-in.{name}", None)


def _box(draw: Callable[..., object], label: str, words: dict[str, str], name: str, most: int) -> None:
    """A box for ``most`` letters, which are kept in ``words`` by the box's name."""
    key, state = f"hand-in.{name}", st.session_state
    draw(label, words.get(name, ""), max_chars=most, key=key, on_change=lambda: words.update({name: state[key]}))

"""The controls of the text page: the plays or the reader's own text, which stays on the machine that runs this app; the other settings; the
buttons Train, Pause and Stop; the link to every other setting."""

from typing import Any

import streamlit as st

from engine.config.link import to_query
from engine.config.run_config import RunConfig
from engine.config.text_recipe import text_config
from engine.runs.run import Run
from engine.tasks.text import user_texts
from engine.tasks.text.encoded import without_window
from engine.tasks.text.tokens import Unit
from pages.parts.app import server
from pages.parts.app.in_markdown import in_markdown, refused_in_words, show_refusal
from pages.parts.app.recent_runs import pause_button, say_watching, steering_button
from pages.parts.app.visitor import visitor
from pages.parts.text.state import PLAYS, SETTINGS, form_config, train

KIND, PASTED, FILE, LAST = "text.kind", "text.pasted", "text.file", "text.own"
BY_CHARACTER = "shakespeare_chars"
WORDS: Unit = "words"
KINDS = {"plays": "Shakespeare", "own": "Your own"}


def choose_text() -> None:
    """Nothing is drawn where the link hides it; where it locks it, the text stays as it is."""
    given = SETTINGS.values()["text"] != PLAYS
    st.session_state.setdefault(KIND, "own" if given else "plays")
    if not SETTINGS.drawn("text"):
        return
    locked = SETTINGS.locks("text")
    asked: dict[str, Any] = {"key": KIND, "on_change": _turn, "disabled": locked}
    st.segmented_control("Text", list(KINDS), format_func=KINDS.__getitem__, required=True, width="stretch", **asked)
    if st.session_state[KIND] == "own" and not locked:
        _ask_for_text()


def waits_for_text() -> bool:
    """Whether the reader chose a text of their own but has not given one that can be trained on."""
    own_text, name = st.session_state[KIND] == "own", SETTINGS.values()["text"]
    return bool(own_text and (name == PLAYS or _too_few_words(name)))


def _too_few_words(name: str) -> str:
    """Why a text of one's own cannot be trained on word by word; empty where it can, or where it is gone, which is said elsewhere."""
    try:
        return without_window(name, WORDS, text_config().seq_len)
    except ValueError:
        return ""


def _turn() -> None:
    """Switch to the plays, or back to the text that was given last."""
    if st.session_state[KIND] == "plays":
        SETTINGS.put({"text": PLAYS})
    elif LAST in st.session_state:
        SETTINGS.put({"text": st.session_state[LAST]})


def _ask_for_text() -> None:
    name = SETTINGS.values()["text"]
    if name != PLAYS:
        try:
            st.caption(
                f":material/description: Your text, {len(user_texts.read(name)):,} characters; its last tenth is held out. It stays on the "
                f"machine that runs this app; links name it by {name[:8]}…, the hash of its content, and do not contain it."
            )
        except ValueError as error:
            st.error(in_markdown(error), icon=":material/error:")
        if problem := _too_few_words(name):
            st.warning(in_markdown(problem), icon=":material/warning:")
            query = {"task": BY_CHARACTER, "text": name}
            st.page_link(
                "lab.py", label="Read it by character, in the lab", icon=":material/science:", query_params=query
            )
    with st.expander("Give a text" if name == PLAYS else "Give another text", expanded=name == PLAYS):
        st.file_uploader("A file: plain text in UTF-8, at most 1 MB", key=FILE)
        st.text_area(
            "Or paste it here",
            key=PASTED,
            height=120,
            placeholder=f"At least {user_texts.MIN_TEXT_CHARACTERS:,} characters",
        )
        st.button("Use this text", icon=":material/check:", on_click=_keep)
        show_refusal("text", icon=":material/error:")


def _keep() -> None:
    file = st.session_state.get(FILE)
    content = file.getvalue() if file is not None else str(st.session_state.get(PASTED) or "").encode()
    with refused_in_words("text", ValueError):
        if not content:
            raise ValueError("No text has arrived. Paste it, or choose the file again.")
        server.pool().allowances.give_text(visitor())
        st.session_state[LAST] = user_texts.keep(content, visitor(), server.pool().limits.texts_per_visitor)
        SETTINGS.put({"text": st.session_state[LAST]})


@refused_in_words()
def _train() -> None:
    train(form_config())  # a press may come together with a setting that does not go with the others


def controls(run: Run | None, config: RunConfig | None) -> None:
    """The buttons. ``config`` is the form's config, None where its settings do not go together."""
    icon = ":material/play_arrow:"
    st.button("Train", icon=icon, width="stretch", disabled=config is None, on_click=_train)
    with st.container(horizontal=True, gap="small"):
        pause_button(run)
        steering_button("stop", run)
        if numbers := SETTINGS.drawn("vocab_size", "steps"):
            with st.popover("More", icon=":material/tune:"):
                for name in numbers:
                    SETTINGS.widget(name, step=500)
    say_watching(run)
    show_refusal()


def way_to_lab(run: Run | None, config: RunConfig | None) -> None:
    if run is not None:
        label, icon, query = "This run in the lab", ":material/science:", to_query(run.config) | {"run": run.id}
    elif config is not None:
        label, icon, query = "All settings, in the lab", ":material/tune:", to_query(config)
    else:
        return
    st.page_link("lab.py", label=label, icon=icon, query_params=query)

"""What becomes of a run: its test lengths, what can be taken from it, and whether it is kept."""

import json
from functools import partial

import streamlit as st

from engine.config.link import to_query, train_command
from engine.config.run_config import RunConfig
from engine.runs.events import Finished, to_json
from engine.runs.frames import lengths_frame, steps_frame
from engine.runs.run import Run
from pages.parts.app import server
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.own_runs import forget_run
from pages.parts.app.page_state import offer_file
from pages.parts.app.visitor import mine, visitor
from pages.parts.lab.form import IN_SIGHT
from pages.parts.lab.state import SETTINGS, address, share_link
from pages.parts.stage.handouts import offer_hand_in, show_link


def show_lengths(run: Run) -> None:
    """Held-out metrics at each test length, with the trained lengths marked."""
    finished = run.ending
    if not isinstance(finished, Finished) or not finished.by_length:
        return
    st.header("Beyond the trained length", help="Held-out sequences at each test length, after training.")
    frame = lengths_frame(finished).rename(columns=lambda name: name.replace("_", " "))
    frame["trained"] = frame["trained"].map({True: "trained", False: "never trained"})
    metrics = {str(name): st.column_config.NumberColumn(format="%.4g") for name in frame.select_dtypes("float")}
    st.dataframe(frame, hide_index=True, column_config=metrics, placeholder="–")
    for note in dict.fromkeys(row["note"] for row in finished.by_length if "note" in row):
        st.caption(note)


def take_run_away(run: Run) -> None:
    """The run's numbers as files, and links to analyses of the trained model."""
    with st.container(horizontal=True, vertical_alignment="center"):
        if mine(run.owner) and (run.suspended or not run.live):
            keep_or_delete(run)
        with st.popover("Download", icon=":material/download:"):
            for label, make, kind in (
                ("Settings (JSON)", partial(settings_json, run), "json"),
                ("Numbers, one row per step (CSV)", lambda: steps_frame(run.events).to_csv(index=False), "csv"),
                ("All events (JSON lines)", lambda: "\n".join(json.dumps(to_json(event)) for event in run.events), "jsonl"),
            ):  # fmt: skip
                offer_file(label, make, f"{run.id}.{kind}", None)
            if run.weights is not None:
                offer_file("Weights (safetensors)", run.weights.read_bytes, f"{run.id}.safetensors", None)
            offer_hand_in()
        if run.config.architecture.attends:
            st.page_link(
                "attention.py", label="Look at its attention", icon=":material/visibility:", query_params={"run": run.id},
                disabled=run.live, help="Taken apart head by head, once the run has ended.",
            )  # fmt: skip
            st.page_link(
                "encodings.py", label="Its encoding through training", icon=":material/pin_drop:",
                query_params={"view": "training", "run": run.id},
            )  # fmt: skip


def settings_json(run: Run) -> str:
    """The settings of a run by their names in a link, and its origin."""
    return json.dumps({**to_query(run.config), "provenance": run.provenance}, indent=2)


def share(run: Run | None, config: RunConfig) -> None:
    """The link to what is on the page with its QR code, also as one for a class; and the same settings on the command line."""
    with st.container(key="lab-share"):
        shown = st.popover("Share", icon=":material/share:", key="lab.share", on_change="rerun")
    if not shown.open:
        return
    with shown:
        why = "Only the settings in sight now can be changed; the others are hidden."
        locked = st.toggle("Lock for a class", key="lab.locked", help=why)
        show_link(SETTINGS.share_link(address(run) | ({"show": ",".join(IN_SIGHT)} if locked else {})))
        with st.expander("With every setting stated, also on the command line"):
            st.code(share_link(config, run), language=None, wrap_lines=True)
            st.code(train_command(config), language="sh", wrap_lines=True)


def keep_or_delete(run: Run) -> None:
    st.toggle(
        "Keep", value=run.pinned, key=f"keep.{run.id}", on_change=_keep, args=(run,),
        help="When too many runs are stored here, the oldest are deleted. This run then stays.",
    )  # fmt: skip
    with st.popover("Delete", icon=":material/delete:"):
        st.caption("The run, its curves and its trained weights are deleted for good. Links to it stop working.")
        st.button("Delete this run", key="delete", type="primary", on_click=_delete, args=(run,))


def _keep(run: Run) -> None:
    runs, limits = server.pool().runs, server.pool().limits
    with refused_in_words(error=ValueError):
        if st.session_state[f"keep.{run.id}"]:
            runs.pin(run.id, visitor(), limits.retention)
        else:
            runs.unpin(run.id, visitor())
    st.session_state[f"keep.{run.id}"] = run.pinned


def _delete(run: Run) -> None:
    with refused_in_words(error=ValueError):
        server.pool().runs.delete(run.id, visitor())
        forget_run(run.id)

"""One board on a scripted run, which the query names."""

from typing import Any

import streamlit as st

from engine.config.run_config import parse
from pages.parts.boards.live.board import ALL, BoardLayout, Overlay, RecordedRun, live_board, overlay
from pages.parts.boards.live.board_updates import updates_after
from tests.browser.site.shared import begin
from tests.scripted import ScriptedRun

st.set_page_config(page_title="Board", layout="wide")
given = st.query_params
SETTINGS: dict[str, Any] = {
    "n_layers": int(given.get("layers", 2)),
    "n_heads": 4,
    "steps": int(given.get("steps", 300)),
    "seq_len": int(given.get("n", 6)),
    "pos_encoding": "rope",
    "family": given.get("family", "decoder"),
}
st.session_state.reruns = st.session_state.get("reruns", 0) + 1
left, middle, right = st.columns(3)
left.slider("A slider", 0, 10, 3)
again = middle.toggle("Another run")
middle.text(f"script runs: {st.session_state.reruns}")
run_id = given.get("run", "one") + ("-again" if again else "")
begun = "click" not in given or right.button("Begin") or st.session_state.get(run_id) or again
st.session_state[run_id] = begun
rate = 3000.0 if right.button("To the end") else float(given.get("rate", 60)) or 3000.0 * again
run = begin(run_id, rate, **SETTINGS) if begun else None
earlier: list[Overlay] = []
if right.toggle("Earlier run"):
    earlier = [overlay(ScriptedRun().advance(250), "learned <b>table</b>")]
if middle.toggle("No board"):
    st.stop()
if "recorded" in given:
    done = ScriptedRun(config=parse(SETTINGS), id="recording").advance(10_000)
    live_board(
        RecordedRun(done, updates_after(done, 0)[0], float(given["recorded"])), BoardLayout(name="A recorded run")
    )
else:
    live_board(run, BoardLayout((*ALL, "samples"), "A scripted run"), earlier=earlier)
    polled_for, _ = st.session_state.get("board.polled", ("", ()))
    polling = run is not None and run.live and polled_for.startswith(f"{run.id}/")
    st.text(f"page knows: {run.state if run else 'nothing'}, polling: {polling}")

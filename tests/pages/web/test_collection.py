"""A script run is not followed by a full garbage collection, which would stop every session at once."""

from __future__ import annotations

from pathlib import Path

from tests.serving import running
from tests.visitor import visiting

APP = """
import gc
import streamlit as st

@st.cache_resource
def collections():
    gc.disable()  # those that Python makes by itself are not counted
    seen = []
    gc.callbacks.append(lambda phase, about: seen.append(phase))
    return seen

st.query_params["seen"] = len(collections())
"""


def test_no_script_run_ends_with_a_full_collection(tmp_path: Path) -> None:
    script = tmp_path / "counts_collections.py"
    script.write_text(APP)
    with running(str(script), tmp_path) as (_, address), visiting(address) as visitor:
        for _ in range(5):
            visitor.open("")
            assert visitor.query == "seen=0"

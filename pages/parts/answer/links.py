"""Links in the prose that open an issue in the reader's own session, where the guesses are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

from engine.experiments.issues import ISSUES
from pages.parts.boards.component import nothing

HERE = Path(__file__).parent
FILE = "issues.py"


def follow_links() -> None:
    """Open the issue, or the map, whose link was followed. The prose stands in the container ``answer``."""
    with st.container(key="answer-links"):
        slug = _script()(key="answer.links.script", on_issue_change=nothing).issue
    if slug is not None:
        st.switch_page(FILE, query_params={"issue": slug} if slug in ISSUES else {})


@st.cache_resource
def _script() -> Any:
    return st.components.v2.component("attention_lab_answer_links", js=(HERE / "links.js").read_text("utf-8"))

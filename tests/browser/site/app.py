"""The app's server around scripted runs: ``streamlit run tests/browser/site/app.py`` from the repository."""

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from pages.parts.web.compose import serving
from tests.browser.site import shared

shared.begin("waiting", rate=0)


def nothing() -> None:
    """Start and stop no pool."""


screens = Path(__file__).parent / "screens" / "main.py"
app = st.App(screens, **serving(find=shared.RUNS.get, start=nothing, stop=nothing, health=dict, ask=lambda *_: None))

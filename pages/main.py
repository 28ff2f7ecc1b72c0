"""The frame of all pages. The file is inside ``pages/`` so that links to pages work."""

from pathlib import Path

import streamlit as st

from pages.parts.app import server
from pages.parts.app.frame import file_at, navigation, show_frame
from pages.parts.app.in_markdown import say_ignored
from pages.parts.app.turn import in_turn
from pages.parts.app.visitor import note_visitor
from pages.parts.experiments.presenter import show_presenter
from pages.parts.experiments.presenting import open_lesson

# A drawing of the app travels in the message: a named icon would be loaded from another host, and a picture file may be gone again.
st.set_page_config(page_title="Attention Lab", page_icon=Path(__file__).parent / "parts" / "icon.svg", layout="wide")

note_visitor()
try:
    with in_turn():
        page = navigation()
        show_frame()
        say_ignored(open_lesson())
        show_presenter(file_at(page.url_path))
        page.run()
finally:  # a page may rerun its script
    server.wake()

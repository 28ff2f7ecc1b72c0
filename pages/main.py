"""The navigation: which pages there are. It lies inside ``pages/`` so that deep links reach it."""

from pathlib import Path

import streamlit as st

from pages.parts import server

# A file of our own: a named icon would be fetched from elsewhere.
st.set_page_config(page_title="Attention Lab", page_icon=Path(__file__).parent / "parts" / "icon.png", layout="wide")

page = st.navigation(
    [
        st.Page("start.py", title="Start", icon=":material/home:", default=True),
        st.Page("lab.py", title="Lab", icon=":material/science:", url_path="lab"),
        st.Page("encodings.py", title="Encodings", icon=":material/pin_drop:", url_path="encodings"),
        st.Page("issues.py", title="Issues", icon=":material/bug_report:", url_path="issues"),
        st.Page("glossary.py", title="Glossary", icon=":material/menu_book:", url_path="glossary"),
    ],
    position="top",
)
page.run()
server.wake()

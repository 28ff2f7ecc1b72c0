"""The navigation, with the list of all pages. The file is inside ``pages/`` so that links to pages work."""

from pathlib import Path

import streamlit as st

from pages.parts.app import server

# An image file of the app: Streamlit would load a named icon from another host.
st.set_page_config(page_title="Attention Lab", page_icon=Path(__file__).parent / "parts" / "icon.png", layout="wide")

page = st.navigation(
    [
        st.Page("start.py", title="Start", icon=":material/home:", default=True),
        st.Page("lab.py", title="Lab", icon=":material/science:", url_path="lab"),
        st.Page("issues.py", title="Issues", icon=":material/bug_report:", url_path="issues"),
        st.Page("encodings.py", title="Encodings", icon=":material/pin_drop:", url_path="encodings"),
        st.Page("design.py", title="Design", icon=":material/architecture:", url_path="design"),
        st.Page("attention.py", title="Attention", icon=":material/visibility:", url_path="attention"),
        st.Page("memory_and_time.py", title="Memory and time", icon=":material/timer:", url_path="memory-and-time"),
        st.Page("text.py", title="Text", icon=":material/history_edu:", url_path="text"),
        st.Page("notebooks.py", title="Notebooks", icon=":material/code_blocks:", url_path="notebooks"),
        # Not in the menu, whose "Notebooks" entry would otherwise link a notebook to itself.
        st.Page(
            "notebook.py", title="Notebook", icon=":material/code_blocks:", url_path="notebook", visibility="hidden"
        ),
        st.Page("glossary.py", title="Glossary", icon=":material/dictionary:", url_path="glossary"),
    ],
    position="top",
)
page.run()
server.wake()

"""The navigation: which pages there are. It lies inside ``pages/`` so that deep links reach it."""

import streamlit as st

st.set_page_config(page_title="Attention Lab", page_icon=":material/hub:", layout="wide")

page = st.navigation(
    [
        st.Page("start.py", title="Start", icon=":material/home:", default=True),
        st.Page("lab.py", title="Lab", icon=":material/science:", url_path="lab"),
    ],
    position="top",
)
page.run()

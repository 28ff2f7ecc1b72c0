"""The encodings page: two encodings side by side, one along its training, and the choice of an encoding."""

import streamlit as st

from pages.parts.app import server
from pages.parts.app.in_markdown import say_ignored
from pages.parts.encodings.compare import compare, through_training
from pages.parts.encodings.evidence import choose
from pages.parts.encodings.state import SETTINGS, control, value

SHOW = {"compare": compare, "training": through_training, "choose": choose}

server.wake()  # this page needs the workers for its first figures
_, ignored = SETTINGS.open_address()
st.title("Encodings", anchor=False)
st.markdown("Attention reads a set; an encoding tells it where each token stands.")
say_ignored(ignored)
control("view", label_visibility="collapsed")
SHOW[value("view")]()

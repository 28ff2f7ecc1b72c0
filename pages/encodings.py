"""The encodings page: a recommendation, two encodings compared, a design of your own, and the evidence."""

import streamlit as st

from pages.parts.app import server
from pages.parts.app.in_markdown import say_ignored
from pages.parts.encodings.compare import compare
from pages.parts.encodings.evidence import TABLE, recommend, show_table
from pages.parts.encodings.state import SETTINGS

server.wake()  # this page needs the workers for its first figures
link, ignored = SETTINGS.open_address()
if link.get("view") == "choose":  # an earlier link to the table
    st.session_state[TABLE] = True
st.title("Encodings", anchor=False)
st.markdown("Attention ignores order. A positional encoding restores it.")
say_ignored(ignored)
recommend()
compare()
show_table()

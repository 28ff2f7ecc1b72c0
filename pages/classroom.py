import streamlit as st

from engine.experiments.classroom import FORM
from pages.parts.classroom import show_participant
from pages.parts.experiments.presenting import joined_class

text = st.query_params.get("class", "")
code = text if FORM.fullmatch(text) else joined_class()
if code:
    st.query_params["class"] = code
    show_participant(code)
else:
    st.title("A class", anchor=False)
    st.markdown("Scan the QR code on the projector, or open its link. The presenter shows both with the key **Q**.")

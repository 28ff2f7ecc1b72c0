"""A link to share: the address of the app, and the link as a QR code."""

from functools import lru_cache
from typing import Literal
from urllib.parse import urlsplit

import segno
import streamlit as st

TOO_LONG = "This link is too long for a QR code."


def base_address(page: str) -> str:
    """The address of the app, with a slash at its end. ``page``: the address of the page that is shown."""
    return (st.context.url or "").split("?")[0].removesuffix("/").removesuffix(page)


def only_here(link: str) -> str:
    """A warning where a link works on this machine only, else an empty text."""
    if urlsplit(link).hostname in ("localhost", "127.0.0.1"):
        return "This address works on this machine only. Open the app by the name that your class can reach."
    return ""


@lru_cache
def qr_code(link: str) -> str:
    """The link as a QR code, an SVG drawing, black on white in both themes; empty where it is too long for one (2,953 bytes)."""
    try:
        code = segno.make(link, micro=False)
    except segno.DataOverflowError:
        return ""
    return code.svg_inline(scale=4, dark="#1B2330", light="#FFFFFF", border=2, omitsize=True)


def show_qr_code(link: str, width: int | Literal["content"] = "content") -> None:
    """The link as a QR code, ``width`` pixels wide, or why there is none."""
    if drawing := qr_code(link):
        st.image(drawing, width=width, alt="The link as a QR code")
    else:
        st.caption(TOO_LONG)


def show_link(link: str) -> None:
    """The link to copy, beside its QR code."""
    st.caption(only_here(link) or "The link never starts training.")
    code, qr = st.columns([2, 1])
    code.code(link, language=None, wrap_lines=True)
    with qr:
        show_qr_code(link)

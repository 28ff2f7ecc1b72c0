"""The visitor of a page, known by a cookie: one browser, with all its tabs; and the visitors with an open page.

The cookie is a secret that gives control of the visitor's runs: pages, folders and logs know only its digest. A tab is
a session of Streamlit's; it lasts while the tab is open, also while it is hidden.
"""

import hashlib
import re
import secrets
from collections.abc import Mapping
from ipaddress import IPv4Address, ip_address, ip_network

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from engine.foundation.visitor import Visitor

COOKIE = "attention_lab_visitor"
FORM = re.compile(r"[A-Za-z0-9_-]{43}")  # of ``secrets.token_urlsafe(32)``
MAX_SESSIONS = 2000  # above it, ended sessions are forgotten


def id_in(cookies: Mapping[str, str]) -> str | None:
    """Return the visitor's id, 16 hexadecimal digits: a digest of the cookie. None without a cookie of the right form."""
    value = cookies.get(COOKIE, "")
    return hashlib.sha256(value.encode()).hexdigest()[:16] if FORM.fullmatch(value) else None


def plain_address(host: str) -> str:
    """Return the address of a connection; for an IPv4-mapped IPv6 address (``::ffff:10.0.0.5``), the IPv4 address."""
    try:
        address = ip_address(host)
    except ValueError:  # a host name
        return host
    return str(getattr(address, "ipv4_mapped", None) or address)


def shared_address(host: str) -> str:
    """Return the network address by which visitors are counted together: of IPv6 the first 64 bits, since one household
    or one server has all of them; a whole site is :attr:`Visitor.network`. Empty for this machine and for an unknown
    address."""
    try:
        address = ip_address(plain_address(host))
    except ValueError:
        return host
    if address.is_loopback:
        return ""
    return str(address if isinstance(address, IPv4Address) else ip_network((address, 64), strict=False))


def visitor() -> Visitor:
    """Return the visitor of this page. Without cookies, each tab is its own visitor."""
    known = id_in(st.context.cookies) or st.session_state.setdefault("visitor", secrets.token_hex(8))
    return Visitor(known, shared_address(st.context.ip_address or ""))


def mine(owner: str) -> bool:
    """Return whether this visitor may pause, stop or delete a run of ``owner``, a visitor's id."""
    return visitor().may_steer(owner)


_visitors: dict[str, str] = {}  # visitor id by session id


def note_visitor() -> None:
    context = get_script_run_ctx()
    if context is not None:
        _visitors[context.session_id] = visitor().id
    if len(_visitors) > MAX_SESSIONS:
        for session in [session for session in list(_visitors) if not _active(session)]:
            _visitors.pop(session, None)


def is_present(visitor_id: str) -> bool:
    """Return whether the visitor has a page open; True where no server runs."""
    if not runtime.exists():
        return True
    return any(_active(session) for session, whose in list(_visitors.items()) if whose == visitor_id)


def number_present() -> int:
    """Return how many visitors have a page open; 1 where no server runs."""
    if not runtime.exists():
        return 1
    return len({whose for session, whose in list(_visitors.items()) if _active(session)})


def _active(session: str) -> bool:
    return runtime.get_instance().is_active_session(session)

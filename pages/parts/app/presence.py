"""The visitors who have a page open. A tab is a session of Streamlit's; it lasts while the tab is open, also while it is hidden."""

from __future__ import annotations

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.parts.app.visitor import visitor

MOST = 2000
"""The number of sessions above which those that have ended are forgotten."""
_visitors: dict[str, str] = {}
"""The id of the visitor by that of the session."""


def note_visitor() -> None:
    """Note whose session this is. Called by every script run."""
    context = get_script_run_ctx()
    if context is not None:
        _visitors[context.session_id] = visitor().id
    if len(_visitors) > MOST:
        for session in [session for session in list(_visitors) if not _active(session)]:
            _visitors.pop(session, None)


def here(visitor_id: str) -> bool:
    """Whether the visitor has a page open; True for everybody where no server runs."""
    if not runtime.exists():
        return True
    return any(_active(session) for session, whose in list(_visitors.items()) if whose == visitor_id)


def number_here() -> int:
    """How many visitors have a page open; 1 where no server runs."""
    if not runtime.exists():
        return 1
    return len({whose for session, whose in list(_visitors.items()) if _active(session)})


def _active(session: str) -> bool:
    return runtime.get_instance().is_active_session(session)

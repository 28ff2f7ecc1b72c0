"""Who has a page open: by the sessions of the server, so that a hidden tab counts and a closed one does not."""

from __future__ import annotations

import pytest
from streamlit import runtime

from engine.foundation.visitor import Visitor
from pages.parts.app import visitor as presence


class Sessions:
    """The sessions of a server, and the one whose script runs."""

    def __init__(self, *active: str) -> None:
        self.active, self.session_id = set(active), ""

    def is_active_session(self, session: str) -> bool:
        return session in self.active


@pytest.fixture
def sessions(monkeypatch: pytest.MonkeyPatch) -> Sessions:
    sessions = Sessions("laptop", "phone", "other")
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: sessions)
    monkeypatch.setattr(presence, "get_script_run_ctx", lambda: sessions)
    for session, visitor in (("laptop", "me"), ("phone", "me"), ("other", "you")):
        sessions.session_id = session
        monkeypatch.setattr(presence, "visitor", lambda visitor=visitor: Visitor(visitor))
        presence.note_visitor()
    return sessions


def test_a_visitor_is_here_while_one_of_its_tabs_is_open_and_counted_once(sessions: Sessions) -> None:
    assert presence.number_here() == 2
    sessions.active.remove("laptop")
    assert presence.number_here() == 2
    sessions.active.remove("other")
    assert presence.number_here() == 1

    sessions.active |= {"laptop", "other"}
    assert presence.here("me")
    assert presence.here("you")
    assert not presence.here("nobody")
    sessions.active.remove("laptop")
    assert presence.here("me")
    sessions.active.remove("phone")
    assert not presence.here("me")
    sessions.active.add("laptop")
    assert presence.here("me"), "its connection broke for a moment only"


def test_without_a_server_everybody_is_here_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "exists", lambda: False)
    assert presence.here("anybody")
    assert presence.number_here() == 1

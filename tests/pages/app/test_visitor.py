import pytest
from streamlit import runtime

from engine.foundation.visitor import Visitor
from pages.parts.app import visitor as visitors


class Sessions:
    """The sessions of a server, and the one whose script runs."""

    def __init__(self, *active: str) -> None:
        self.active, self.session_id = set(active), ""

    def is_active_session(self, session: str) -> bool:
        return session in self.active


def test_a_visitor_is_here_while_one_of_its_tabs_is_open_and_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions("laptop", "phone", "other")
    monkeypatch.setattr(runtime, "exists", lambda: True)
    monkeypatch.setattr(runtime, "get_instance", lambda: sessions)
    monkeypatch.setattr(visitors, "get_script_run_ctx", lambda: sessions)
    for session, name in (("laptop", "me"), ("phone", "me"), ("other", "you")):
        sessions.session_id = session
        monkeypatch.setattr(visitors, "visitor", lambda name=name: Visitor(name))
        visitors.note_visitor()
    for active, here in (
        ({"laptop", "phone", "other"}, {"me", "you"}),
        ({"phone", "other"}, {"me", "you"}),
        ({"phone"}, {"me"}),
        ({"other"}, {"you"}),
        ({"laptop", "other"}, {"me", "you"}),  # its connection broke for a moment only
    ):
        sessions.active = active
        assert {name for name in ("me", "you", "nobody") if visitors.is_present(name)} == here
        assert visitors.number_present() == len(here)


def test_without_a_server_everybody_is_here_and_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "exists", lambda: False)
    assert visitors.is_present("anybody")
    assert visitors.number_present() == 1

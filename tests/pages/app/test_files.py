"""Files that a page offers are named with their origin."""

import pytest
import streamlit as st

from engine.foundation.provenance import stamp
from pages.parts.app.page_state import offer_file


def test_the_name_of_an_offered_file_tells_version_commit_and_day(monkeypatch: pytest.MonkeyPatch) -> None:
    offered: list[tuple[object, ...]] = []
    monkeypatch.setattr(st, "download_button", lambda *given, **_: offered.append(given))
    offer_file("Numbers", str, "heads.csv")
    (given,) = offered
    assert given[2:] == (f"heads-{stamp()}.csv", "text/csv")

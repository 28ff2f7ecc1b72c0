"""The shelf of a tab's runs: the newest stay, pinned ones stay longer, and what was chosen for a run goes with it."""

from __future__ import annotations

from pages.parts.app.own_runs import MAX_KEPT, Shelf


def test_the_oldest_that_is_not_pinned_goes_but_never_the_newest() -> None:
    shelf = Shelf()
    shelf.add("first")
    shelf.turn("pinned", "first")
    for number in range(MAX_KEPT):
        shelf.add(f"run {number}")
    assert len(shelf.runs) == MAX_KEPT
    assert shelf.runs[0] == "first"
    assert "run 0" not in shelf.runs
    assert shelf.runs[-1] == f"run {MAX_KEPT - 1}"

    shelf = Shelf()
    for number in range(MAX_KEPT + 1):
        shelf.add(f"run {number}")
        shelf.turn("pinned", f"run {number}")
    assert shelf.runs[-1] == f"run {MAX_KEPT}"
    assert len(shelf.runs) == MAX_KEPT


def test_a_choice_is_taken_back_and_goes_with_its_run() -> None:
    shelf = Shelf()
    shelf.add("one")
    shelf.turn("hidden", "one")
    assert "one" in shelf.hidden
    shelf.turn("hidden", "one")
    assert "one" not in shelf.hidden
    shelf.turn("pinned", "one")
    shelf.put_beside("one")
    shelf.remove("one")
    assert not shelf.runs
    assert "one" not in shelf.pinned
    assert shelf.beside == ""

"""The hand-in: it holds what the session did, in order and escaped, and needs nothing else."""

import re
from functools import partial

import pytest
from streamlit.runtime.context import ContextProxy
from streamlit.testing.v1 import AppTest

from engine.experiments.classroom import MOST_STUDENTS
from engine.foundation.visitor import Visitor
from pages.parts.app.visitor import COOKIE, id_in
from pages.parts.stage.handouts import MOST_VISITORS, NAME, NOTHING_YET, OWN, Note, hand_in, kept_of, write_down
from tests.pages.looking import noted, press

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)> $title {} & “quotes”"
NOTE = Note("Heads?", "How many?", "It falls", "Trained here: 8 seeds (0 to 7).", "It falls from 1 to 0.5.")


def test_whatever_a_reader_types_is_text_in_the_file() -> None:
    notes = [Note(HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE)]
    written = hand_in(notes, {NAME: f"  {HOSTILE} ", OWN: HOSTILE})
    tags = set(re.findall(r"<(\w+)", written))
    assert tags == {"html", "meta", "title", "style", "h1", "h2", "p", "section", "b"}
    assert written.count("&lt;script&gt;alert(1)&lt;/script&gt;") == 8
    assert "$title" in written
    assert "<title>Hand-in Ada</title>" in hand_in([], {NAME: " Ada "})


def test_the_file_needs_no_other() -> None:
    written = hand_in([NOTE], {})
    assert not re.search(r"https?:|\bsrc=|\bhref=|url\(|@import|<script|<link", written)


def test_guess_run_and_result_stand_together_and_what_is_missing_is_said() -> None:
    rows = (
        NOTE,
        Note("Skips?", "Needed?", "It stays"),
        Note("Mask?", "Why?", "", "Trained here: 2 seeds."),
        Note("Lab: Sort", ran="x"),
    )
    written = hand_in(rows, {})
    first, guessed, running, lab = written.split("<section>")[1:]
    assert all(words in first for words in (NOTE.question, NOTE.guessed, NOTE.ran, NOTE.found))
    assert "nothing yet" in guessed
    assert "Found" not in guessed
    assert "no guess before the result" in running
    assert "had not ended" in running
    assert "Guessed" not in lab


def noting() -> None:
    from pages.parts.stage.handouts import Note, write_down

    write_down("one", Note("A", "Q", "first", "run 1", "result 1"))
    write_down("two", Note("B", "Q", "only a guess"))
    write_down("one", Note("A", "Q", "second", "run 2"))
    write_down("one", Note("A", "Q", "third", "run 3", "result 3"))
    write_down("two", Note("B", "Q", "another guess", "run", "result"))


def test_the_guess_is_the_one_that_stood_before_the_first_result() -> None:
    app = AppTest.from_function(noting, default_timeout=300).run()
    notes = noted(app)
    assert list(notes) == ["one", "two"]
    assert (notes["one"].guessed, notes["one"].ran, notes["one"].found) == ("first", "run 3", "result 3")
    assert (notes["two"].guessed, notes["two"].found) == ("another guess", "result")


def noting_again() -> None:
    from pages.parts.stage.handouts import Note, write_down

    write_down("two", Note("B", "Q", "another guess", "run", "result"))


def offering() -> None:
    from pages.parts.stage.handouts import offer_hand_in

    offer_hand_in()


def test_nothing_is_offered_before_anything_was_done_and_what_was_done_survives_a_reload(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ContextProxy, "cookies", property(lambda self: {COOKIE: "h" * 43}))
    app = AppTest.from_function(offering, default_timeout=300).run()
    assert app.caption[0].value == NOTHING_YET
    assert not app.get("download_button")
    AppTest.from_function(noting, default_timeout=300).run()
    app.run()
    assert len(app.get("download_button")) == 1
    app.text_input[0].set_value("Ada").run()
    again = AppTest.from_function(offering, default_timeout=300).run()
    assert again.text_input[0].value == "Ada"
    kept = kept_of(id_in({COOKIE: "h" * 43}) or "")
    assert (list(kept.notes), kept.words) == (["one", "two"], {NAME: "Ada"})
    press(again, "Begin anew")
    assert again.caption[0].value == NOTHING_YET
    AppTest.from_function(noting_again, default_timeout=300).run()
    assert not kept_of(id_in({COOKIE: "h" * 43}) or "").notes, "a page that still shows what an earlier reader did"
    assert not app.run().text_input


def test_every_student_of_a_full_class_keeps_its_hand_in_whatever_comes_from_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def write(name: str, address: str) -> None:
        monkeypatch.setattr("pages.parts.stage.handouts.visitor", partial(Visitor, name, address))
        write_down("one", NOTE)

    students = [f"student {number}" for number in range(MOST_STUDENTS)]
    for name in students:
        write(name, "10.0.0.1")
    for number in range(2 * MOST_VISITORS):
        write(f"cookie {number}", f"2001:db8:0:{number % 256:x}::/64")
    assert all(kept_of(name).notes for name in students)
    monkeypatch.setattr("pages.parts.stage.handouts.here", lambda name: name == students[0])
    write("one more", "10.0.0.1")
    assert [bool(kept_of(name).notes) for name in (*students[:3], "one more")] == [True, False, True, True]


def test_the_hand_ins_of_those_who_wrote_last_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for writer in ["first", *map(str, range(MOST_VISITORS - 1)), "first", "new"]:
        monkeypatch.setattr("pages.parts.stage.handouts.visitor", partial(Visitor, writer))
        write_down("one", NOTE)
    assert [bool(kept_of(name).notes) for name in ("first", "0", "1", "new")] == [True, False, True, True]

from dataclasses import replace

import pytest

from engine.experiments.lessons import from_code
from pages.parts.experiments.presenting import CODE, Facts, Presenting, next_state

LESSON = from_code("text~Now~ask~Who?~Ann~Bob~Cy~0.2~~heads.5~~lab~steps~10.5~~text~Later.2")
ASKS, ISSUE, LAB, SLIDE = (Presenting(LESSON, at) for at in range(4))
ROOM = {"classroom": "0123abcd"}
FIRST_RUN, ISSUE_RUN = ({"finished_steps": frozenset({at})} for at in range(2))
NOTE = "0 of 2 have answered. Continue?"
QUESTION = "Remove 3 students and all guesses? Press E again."


def phase(now: Presenting, name: str, **more: object) -> Presenting:
    return replace(now, phase=now.phases.index(name), **more)


ALONE = replace(ISSUE, on=False)
CASES = [
    # Beats and steps
    ("first the code", replace(ASKS, phase=CODE), "next", {"phase": 0}, ()),
    ("a phase on", ISSUE, "next", {"phase": 1}, ()),
    ("a phase back", phase(ISSUE, "guess"), "back", {"phase": 0}, ()),
    ("a step on", phase(ISSUE, "remedy", round=2, guess=1), "next", {"at": 2, "phase": 0, "round": 0, "guess": None}, ("open step",)),
    ("back to the step before, which runs nothing anew", ISSUE, "back", {"at": 0, "phase": 2, **FIRST_RUN}, ("open step",)),
    ("back to the code", ASKS, "back", {"phase": CODE}, ()),
    ("nothing before the code", replace(ASKS, phase=CODE), "back", {}, ()),
    ("the end", SLIDE, "next", {"over": True}, ()),
    ("back from the end", replace(SLIDE, over=True), "back", {"over": False}, ()),
    ("alone: a step on", ALONE, "next", {"at": 2}, ("open step",)),
    ("alone: a step back", ALONE, "back", {"at": 0, "phase": 2, **FIRST_RUN}, ("open step",)),
    # Present and leave
    ("present", replace(ALONE, phase=3), "present", {"on": True, "phase": 0}, ("open class",)),
    ("present again in the same class", replace(ALONE, **ROOM), "present", {"on": True}, ()),
    ("present no more", phase(ISSUE, "run", over=True), "present", {"on": False, "phase": 0, "over": False}, ()),
    ("leave", ISSUE, "leave", None, ()),
    ("leave a class", replace(ISSUE, **ROOM), "leave", None, ("send home",)),
    # Guesses
    ("a guess", ISSUE, "3", {"guess": 2, "phase": 1}, ()),
    ("no guess after the run", phase(ISSUE, "run"), "3", {}, ()),
    ("no guess in a step that has run", replace(ISSUE, finished_steps=frozenset({1})), "1", {}, ()),
    ("no guess without a question", SLIDE, "1", {}, ()),
    # Seeds of a class
    ("seeds before the run", phase(ISSUE, "guess", **ROOM), "seeds", {"phase": 3, "round": 1, "training": True, **ISSUE_RUN}, ()),
    ("seeds after the run", phase(ISSUE, "run", **ROOM), "seeds", {"phase": 4, "round": 1, "training": True, **ISSUE_RUN}, ()),
    ("seeds once more", phase(ISSUE, "figure", round=1, **ROOM), "seeds", {"round": 2, "training": True, **ISSUE_RUN}, ()),
    ("no seeds before the guess", replace(ISSUE, **ROOM), "seeds", {}, ()),
    ("no seeds in the lab", phase(LAB, "run", **ROOM), "seeds", {}, ()),
    ("no seeds without a class", phase(ISSUE, "run"), "seeds", {}, ()),
    ("the phones train until the presenter goes on", phase(ISSUE, "figure", training=True), "next", {"phase": 4, "training": False}, ()),
    # A question before something is lost
    ("go on?", phase(ISSUE, "guess", **ROOM), "next", {"note": NOTE}, ()),
    ("go on", phase(ISSUE, "guess", note=NOTE, **ROOM), "next", {"phase": 2, "note": ""}, ()),
    ("another key takes the question away", phase(ISSUE, "guess", note=NOTE, **ROOM), "2", {"guess": 1, "note": ""}, ()),
    ("empty it?", replace(ISSUE, **ROOM), "empty", {"note": QUESTION}, ()),
    ("empty it", replace(ISSUE, note=QUESTION, **ROOM), "empty", {}, ("empty class",)),
    ("nothing to empty", ISSUE, "empty", {}, ()),
    ("alone nobody is let go", replace(ISSUE, on=False, **ROOM), "empty", {}, ()),
]  # fmt: skip


@pytest.mark.parametrize(
    ("before", "key", "changes", "effects"), [row[1:] for row in CASES], ids=[row[0] for row in CASES]
)
def test_a_press_changes_the_lesson_and_says_what_else_is_to_be_done(
    before: Presenting, key: str, changes: dict[str, object] | None, effects: tuple[str, ...]
) -> None:
    after, done = next_state(before, key, Facts(NOTE if key == "next" and before.classroom else "", 3))
    assert done == effects
    if changes is None:
        assert after is None
    else:
        assert after == replace(before, **changes)
        assert changes or after is before


def test_p_presents_the_issue_of_a_page_where_no_lesson_is_held() -> None:
    issue = from_code("heads.5")
    now, effects = next_state(None, "present", Facts(issue=issue))
    assert now is not None
    assert (now.lesson, now.on, now.phase, effects) == (issue, True, 0, ("open class",))
    assert next_state(None, "present") == next_state(None, "next", Facts(issue=issue)) == (None, ())

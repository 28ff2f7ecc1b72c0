import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Barrier

import pytest

from engine.experiments import classroom
from engine.experiments.classroom import (
    FORM,
    IN_USE_SECONDS,
    PRESENCE_SECONDS,
    ProjectorState,
    Responses,
    empty_class,
    enter,
    keep_guess,
    open_class,
    presents,
    projector_of,
    responses,
    show_projector,
)
from engine.foundation.errors import NoRoom, Refused
from engine.foundation.files import data_folder
from engine.foundation.visitor import PROGRAM, Visitor
from tests.engine.at_once import at_once
from tests.engine.full_disk import full

ANN, BEN, EVE, DAN, ZOE = map(Visitor, ("ann", "ben", "eve", "dan", "zoe"))
TEACHER = Visitor("teacher", "10.0.0.1")
NOBODY = Responses(0, {})
ASKS = ProjectorState("heads.5~~missing-mask.5", phase="guess")


def files(folder: Path) -> set[str]:
    return {str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()}


def asking(presenter: Visitor = TEACHER, at: int = 0) -> str:
    code = open_class(presenter)
    show_projector(code, presenter, replace(ASKS, at=at))
    return code


def set_back(path: Path, seconds: float) -> None:
    changed = path.stat().st_mtime - seconds
    os.utime(path, (changed, changed))


def leave_class(code: str) -> None:
    """Let everybody be out of the class for so long that it is over."""
    set_back(data_folder() / "classrooms" / code, IN_USE_SECONDS + 1)


@pytest.fixture
def code(own_data_folder: Path) -> str:
    return asking()


def test_the_latest_guess_of_each_student_counts_once_and_for_its_own_step_and_class(code: str) -> None:
    other = asking(PROGRAM)
    assert enter(code, EVE) == {}
    for student, answer in [(ANN, 1), (BEN, 1), (ANN, -1), (DAN, 0), (DAN, None)]:
        keep_guess(code, student, 0, answer)
    keep_guess(other, ZOE, 0, 1)
    show_projector(code, TEACHER, replace(ASKS, at=1))
    keep_guess(code, BEN, 1, 0)
    assert responses(code, 0) == Responses(4, {-1: 1, 1: 1})
    assert responses(code, 1) == Responses(4, {0: 1})
    assert responses(other, 0) == Responses(1, {1: 1})
    assert FORM.fullmatch(code)
    assert code != other


def test_nobody_waits_for_a_phone_that_has_left_until_it_is_back(code: str, own_data_folder: Path) -> None:
    for student in (ANN, BEN, EVE):
        enter(code, student)
    keep_guess(code, ANN, 0, 1)
    assert (responses(code, 0).present, responses(code, 0).waiting) == ({"ann", "ben", "eve"}, 2)
    (file,) = own_data_folder.rglob("ben.*.json")
    set_back(file, PRESENCE_SECONDS + 1)
    assert (responses(code, 0).present, responses(code, 0).waiting) == ({"ann", "eve"}, 1)
    assert responses(code, 0) == Responses(3, {1: 1}), "it is still in the class"
    enter(code, BEN)
    assert responses(code, 0).waiting == 2


def test_only_who_opened_a_class_steers_its_projector_which_all_others_follow(code: str, own_data_folder: Path) -> None:
    state = ProjectorState("heads.5", 0, "told", 2, (0, 1), "It stays the same.")
    for stranger in (ANN, Visitor("teacher's pupil", "10.0.0.1"), PROGRAM):
        show_projector(code, stranger, state)
        assert not presents(code, stranger)
    assert projector_of(code) == ASKS
    assert presents(code, TEACHER)
    show_projector(code, TEACHER, state)
    assert projector_of(code) == state
    file = own_data_folder / "classrooms" / f"{code}.class"
    before = file.stat().st_mtime_ns
    show_projector(code, TEACHER, state)
    assert file.stat().st_mtime_ns == before, "what the projector shows already is not written again"
    assert json.loads(file.read_bytes()).keys() == {"presenter", "wall"}, "as a server of an earlier version reads it"
    for damaged in ("", "{", "[]", '{"presenter": "teacher", "wall": {"phase": "party"}}'):
        file.write_text(damaged)
        with pytest.raises(NoRoom, match="has ended"):
            projector_of(code)


def test_a_guess_that_comes_when_the_projector_has_gone_on_counts_no_more(code: str) -> None:
    keep_guess(code, ANN, 0, 1)
    for state in (replace(ASKS, phase="look"), replace(ASKS, phase="told"), replace(ASKS, at=1), ProjectorState()):
        show_projector(code, TEACHER, state)
        with pytest.raises(Refused, match=r"The next step has begun\."):
            keep_guess(code, ANN, 0, -1)
        with pytest.raises(Refused, match="has begun"):
            keep_guess(code, BEN, 0, -1)
    assert responses(code, 0) == Responses(1, {1: 1})


def test_who_comes_back_finds_its_guesses_and_withdraws_none(code: str) -> None:
    keep_guess(code, ANN, 0, 1)
    show_projector(code, TEACHER, replace(ASKS, at=12))
    keep_guess(code, ANN, 12, -1)
    assert enter(code, ANN) == {0: 1, 12: -1}
    elsewhere = Visitor("ann", "10.0.0.7")
    assert enter(code, elsewhere) == {0: 1, 12: -1}
    assert responses(code, 0) == Responses(1, {1: 1})


def test_a_made_up_link_makes_nothing_and_deletes_nothing(code: str, own_data_folder: Path) -> None:
    keep_guess(code, ANN, 0, 1)
    before = files(own_data_folder)
    for number in range(210):
        made_up = f"{number:08x}"
        with pytest.raises(NoRoom, match="This class has ended, or its link is incomplete"):
            enter(made_up, BEN)
        show_projector(made_up, TEACHER, ASKS)
        with pytest.raises(NoRoom, match="has ended"):
            keep_guess(made_up, BEN, 0, 1)
        assert responses(made_up, 0) == NOBODY
    assert files(own_data_folder) == before
    assert responses(code, 0) == Responses(1, {1: 1})


def test_a_student_s_many_guesses_take_the_room_of_one(code: str, own_data_folder: Path) -> None:
    for number in range(300):
        keep_guess(code, ANN, 0, 1 if number % 2 else -1)
    (file,) = (own_data_folder / "classrooms" / code).iterdir()
    assert json.loads(file.read_text()) == {"0": 1}


def test_the_students_of_an_address_and_of_a_class_are_limited_and_those_in_it_stay(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classroom, "MAX_STUDENTS", 70)
    for number in range(classroom.MAX_STUDENTS_OF_NETWORK):
        enter(code, Visitor(f"cookie {number}", "10.0.0.1"))
    with pytest.raises(NoRoom, match=r"60 students at your network address already, which is the limit\."):
        enter(code, Visitor("one more cookie", "10.0.0.1"))
    keep_guess(code, Visitor("cookie 0", "10.0.0.1"), 0, 1)
    for number in range(10):
        enter(code, Visitor(f"phone {number}", f"10.0.1.{number}"))
    with pytest.raises(NoRoom, match=r"has 70 students already, which is the limit\."):
        enter(code, Visitor("late", "10.0.2.1"))
    assert responses(code, 0) == Responses(70, {1: 1})


def test_a_student_whose_address_changes_stays_one_student(code: str) -> None:
    enter(code, Visitor("ann", "10.0.0.1"))
    for address in ("10.0.9.9", "10.0.0.1", ""):
        keep_guess(code, Visitor("ann", address), 0, 1)
        assert responses(code, 0) == Responses(1, {1: 1})


def test_thirty_guess_at_once_and_all_are_counted_while_the_projector_looks(code: str) -> None:
    together = Barrier(31)

    def guess(number: int) -> None:
        together.wait(60)
        for answer in (-1, 0, 1):
            keep_guess(code, Visitor(f"student {number}", "10.0.0.1"), 0, answer)

    with ThreadPoolExecutor(30) as threads:
        guesses = [threads.submit(guess, number) for number in range(30)]
        together.wait(60)
        while not all(one.done() for one in guesses):
            assert responses(code, 0).students <= 30
        assert [one.result() for one in guesses] == [None] * 30
    assert responses(code, 0) == Responses(30, {1: 30})


def test_thirty_open_a_class_at_once_and_each_has_its_own(own_data_folder: Path) -> None:
    def present(number: int) -> str:
        code = asking(Visitor(f"teacher {number}", "10.0.0.1"))
        keep_guess(code, ANN, 0, 1)
        return code

    assert [responses(code, 0) for code in at_once(present)] == [Responses(1, {1: 1})] * 30


@pytest.fixture
def _few_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classroom, "MAX_CLASSES", 40)


@pytest.mark.usefixtures("_few_classes")
def test_who_opens_many_classes_loses_those_and_no_other_one_goes(code: str, own_data_folder: Path) -> None:
    keep_guess(code, ANN, 0, 1)
    codes = [asking(Visitor("a cookie", "10.0.0.9")) for _ in range(classroom.MAX_CLASSES_OF_VISITOR)]
    for one in codes:
        keep_guess(one, BEN, 0, 1)
        leave_class(one)
    last = open_class(Visitor("a cookie", "10.0.0.9"))
    assert [responses(one, 0).students for one in codes] == [0] + [1] * (len(codes) - 1)
    assert not (own_data_folder / "classrooms" / codes[0]).exists(), "the guesses of a class go with it"
    assert enter(last, BEN) == {}

    for number in range(classroom.MAX_CLASSES + 10):
        leave_class(open_class(Visitor(f"cookie {number}", "10.0.0.9")))
    assert responses(code, 0) == Responses(1, {1: 1})
    assert len(list((own_data_folder / "classrooms").glob("*.class"))) == classroom.MAX_CLASSES // 2 + 1


@pytest.mark.usefixtures("_few_classes")
@pytest.mark.parametrize("networks", [("10.0.0.8", "10.0.0.9"), ("2001:db8:0:1::/64", "2001:db8:1:1::/64")])
def test_no_number_of_new_classes_takes_the_place_of_one_that_is_held(code: str, networks: tuple[str, str]) -> None:
    for number in range(30):
        keep_guess(code, Visitor(f"student {number}"), 0, 1)
    opened = 0
    for number in range(20):
        with suppress(NoRoom):
            for _ in range(classroom.MAX_CLASSES_OF_VISITOR):
                open_class(Visitor(f"cookie {number}", networks[number % 2]))
                opened += 1
    assert responses(code, 0) == Responses(30, {1: 30})
    assert opened < classroom.MAX_CLASSES
    with pytest.raises(NoRoom, match=r"^\d+ classes are open now, which is the limit\. Try again in a few minutes\.$"):
        open_class(Visitor("one more cookie", networks[0]))
    open_class(Visitor("another teacher", "10.0.0.1"))


def test_a_phone_alone_or_a_projector_alone_holds_a_class(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classroom, "MAX_CLASSES", 6)
    teacher = Visitor("another teacher")
    for_student, for_projector, for_nobody = (asking(teacher) for _ in range(3))
    enter(for_student, ANN)
    (file,) = (data_folder() / "classrooms" / for_student).iterdir()
    for one in (code, for_student, for_projector, for_nobody):
        leave_class(one)
    set_back(file, IN_USE_SECONDS)
    enter(for_student, ANN)
    show_projector(for_projector, teacher, ASKS)
    for number in range(3):
        leave_class(open_class(Visitor(f"cookie {number}")))
        leave_class(open_class(Visitor(f"cookie {number}")))
    assert projector_of(for_student) == projector_of(for_projector) == ASKS
    for one in (code, for_nobody):
        with pytest.raises(NoRoom, match="has ended"):
            projector_of(one)


def test_a_class_stays_while_its_projector_goes_on_after_the_clock_was_set_back(
    own_data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classroom, "MAX_CLASSES", 12)
    now, two_hours = time.time, 7200
    with monkeypatch.context() as ahead:
        ahead.setattr(time, "time", lambda: now() + two_hours)
        ahead.setattr(time, "time_ns", lambda: int((now() + two_hours) * 1e9))
        for number in range(10):
            leave_class(open_class(Visitor(f"cookie {number}")))
    code = asking()
    leave_class(code)  # the clock may be set while nobody is there
    show_projector(code, TEACHER, replace(ASKS, phase="look"))
    leave_class(code)
    for number in range(5):
        open_class(Visitor(f"another cookie {number}"))
    assert projector_of(code).phase == "look"


def test_a_full_class_takes_the_next_student_in_place_of_one_whose_phone_has_left(
    code: str, own_data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(classroom, "MAX_STUDENTS", 62)
    made_up = [Visitor(f"cookie {number}", f"2001:db8:0:{number % 8}::/64") for number in range(60)]
    for one in made_up:
        keep_guess(code, one, 0, -1)
    mate = Visitor("classmate", "2001:db8:0:9::/64")
    with pytest.raises(NoRoom, match="60 students at your network address already"):
        enter(code, mate)
    for file in own_data_folder.rglob("cookie ?.*.json"):
        set_back(file, PRESENCE_SECONDS + 1)
    for number in range(10):
        keep_guess(code, Visitor(f"mate {number}", mate.address), 0, 1)
    assert responses(code, 0).guesses == {-1: 50, 1: 10}
    with pytest.raises(NoRoom, match="60 students at your network address already"):
        enter(code, mate)
    enter(code, Visitor("ann", "10.0.0.1"))
    enter(code, Visitor("ben", "10.0.0.2"))
    with pytest.raises(NoRoom, match="62 students already"):
        enter(code, Visitor("eve", "10.0.0.3"))
    set_back(next(own_data_folder.rglob("ann.*.json")), PRESENCE_SECONDS + 1)
    enter(code, Visitor("eve", "10.0.0.3"))
    assert responses(code, 0).students == 62


def test_the_presenter_alone_empties_a_class_and_who_is_here_enters_it_again(code: str) -> None:
    for student in (ANN, BEN):
        keep_guess(code, student, 0, 1)
    for stranger in (ANN, PROGRAM):
        empty_class(code, stranger)
    assert responses(code, 0) == Responses(2, {1: 2})
    empty_class(code, TEACHER)
    assert responses(code, 0) == NOBODY
    keep_guess(code, ANN, 0, 0)
    assert responses(code, 0) == Responses(1, {0: 1})


def test_a_damaged_file_is_passed_over_and_written_anew(code: str, own_data_folder: Path) -> None:
    folder = own_data_folder / "classrooms" / code
    keep_guess(code, ANN, 0, 1)
    damaged = (b"5", b'[["a"], "x", 1]', b"\xff\xfe", b"[" * 100_000, b'{"0": tr', b'{"0": [1]}', b'{"0": 7}', b"",
               b'{"0": true}', b'{"heads": 1}')  # fmt: skip
    for number, content in enumerate(damaged):
        (folder / f"{number}..json").write_bytes(content)
    (folder / "0..json.12345678.part").write_text("")
    assert responses(code, 0) == Responses(1 + len(damaged), {1: 1})
    for number in range(len(damaged)):
        keep_guess(code, Visitor(f"{number}"), 0, 0)
    assert responses(code, 0).guesses == {1: 1, 0: len(damaged)}


def test_the_projector_reads_only_what_has_changed(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read, names = Path.read_bytes, list[str]()

    def note(file: Path) -> bytes:
        names.append(file.name)
        return read(file)

    for student in (ANN, BEN):
        keep_guess(code, student, 0, 1)
    responses(code, 0)
    keep_guess(code, BEN, 0, -1)
    monkeypatch.setattr(Path, "read_bytes", note)
    for at in (0, 0, 1):
        responses(code, at)
    assert names == ["ben..json"]


def test_a_full_disk_is_an_error_and_the_guess_before_it_counts(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    keep_guess(code, ANN, 0, 1)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        with pytest.raises(OSError, match="No space"):
            keep_guess(code, ANN, 0, -1)
        with pytest.raises(OSError, match="No space"):
            enter(code, BEN)
        with pytest.raises(OSError, match="No space"):
            open_class(PROGRAM)
    assert responses(code, 0) == Responses(1, {1: 1})

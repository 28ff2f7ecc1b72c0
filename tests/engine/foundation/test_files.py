import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Barrier, Thread

import pytest

from engine.foundation import files
from engine.foundation.files import (
    ABANDONED_SECONDS,
    DATA_VARIABLE,
    NoDataFolder,
    adding,
    data_folder,
    data_folder_problem,
    keep_newest,
    keep_private,
    note_use,
    replacing,
    write_for_visitor,
    write_whole,
)  # fmt: skip
from engine.foundation.visitor import PROGRAM, Visitor
from tests.engine.at_once import at_once
from tests.engine.full_disk import full

LONG = 200_000


def names(folder: Path) -> set[str]:
    return {file.name for file in folder.iterdir() if file.is_file()}


WRITER = f"""
import sys
from pathlib import Path
from engine.foundation.files import write_whole
for number in range(80):
    write_whole(Path(sys.argv[1]), sys.argv[2] * {LONG})
"""


def test_a_reader_sees_the_old_or_the_new_while_two_processes_and_a_thread_write(tmp_path: Path) -> None:
    file = tmp_path / "contended"
    write_whole(file, "a" * LONG)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(file), letter]) for letter in "bc"]
    thread = Thread(target=lambda: [write_whole(file, "d" * LONG) for _ in range(80)])
    thread.start()
    contents = set()
    while any(writer.poll() is None for writer in writers) or thread.is_alive():
        content = file.read_text()
        assert (len(content), len(set(content))) == (LONG, 1)
        contents.add(content[0])
    thread.join()
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(contents) > 1
    assert os.listdir(tmp_path) == ["contended"]


@pytest.mark.parametrize("problem", [OSError("No space left on device"), KeyboardInterrupt()])
def test_after_an_error_the_old_content_stays_and_nothing_else(problem: BaseException, tmp_path: Path) -> None:
    file = tmp_path / "some" / "where" / "it.npz"
    write_whole(file, b"\0\1")
    assert file.read_bytes() == b"\0\1"
    write_whole(file, "größer")
    with pytest.raises(type(problem)), replacing(file) as half_written:  # noqa: PT012
        half_written.write_text("half of the n")
        raise problem
    with pytest.raises(FileNotFoundError), replacing(file):
        pass  # writes nothing
    assert (file.read_text("utf-8"), os.listdir(file.parent)) == ("größer", ["it.npz"])


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits the size of a file in this way")
def test_what_the_disk_takes_half_of_is_not_appended(tmp_path: Path) -> None:
    script = (
        "import resource, signal, sys; from pathlib import Path; from engine.foundation.files import append_whole; "
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100)); "
        "append_whole(Path(sys.argv[1]), 'a' * 70); append_whole(Path(sys.argv[1]), 'b' * 70)"
    )
    file = tmp_path / "lines"
    done = subprocess.run([sys.executable, "-c", script, str(file)], capture_output=True, text=True)
    assert "File too large" in done.stderr
    assert file.read_text() == "a" * 70


def test_the_newest_are_kept_and_only_abandoned_half_written_files_are_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        write_whole(tmp_path / f"{number}.txt", "")
    write_whole(tmp_path / "other.json", "")
    note_use(tmp_path / "1.txt")
    keep_newest(tmp_path, "*.txt", 3)
    assert names(tmp_path) == {"1.txt", "4.txt", "5.txt", "other.json"}
    keep_newest(tmp_path / "nowhere", "*.txt", 3)

    for name, age in (("of-a-former-version.part", ABANDONED_SECONDS + 60), ("being-written.json.1234.part", 1)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    keep_newest(tmp_path, "*.json", 3)
    assert len(list(tmp_path.glob("*.part"))) == 2, "it has not been looked at twice"
    monkeypatch.setattr(files, "STILL_SECONDS", 0.0)
    keep_newest(tmp_path, "*.json", 3)
    assert [file.name for file in tmp_path.glob("*.part")] == ["being-written.json.1234.part"]
    keep_newest(tmp_path, "*", 4)
    assert names(tmp_path) == {"1.txt", "4.txt", "5.txt", "other.json", "being-written.json.1234.part"}


def test_many_may_tidy_the_same_folder(tmp_path: Path) -> None:
    for number in range(60):
        write_whole(tmp_path / f"{number}.txt", "")
    at_once(lambda _: keep_newest(tmp_path, "*.txt", 10))
    assert names(tmp_path) == {f"{number}.txt" for number in range(50, 60)}


@pytest.mark.parametrize("whose", ["each its own", "one visitor's", "the same by all"])
def test_many_give_to_the_same_folder_at_once_and_none_is_refused_or_lost(whose: str, tmp_path: Path) -> None:
    people, files_each = 20, 4
    together = Barrier(people)

    def give_some(number: int) -> None:
        visitor = Visitor("one" if whose == "one visitor's" else f"visitor {number}")
        for n in range(files_each):
            together.wait(60)
            file = tmp_path / (f"{n}.txt" if whose == "the same by all" else f"{number}-{n}.txt")
            write_for_visitor(file, "all", visitor, people * files_each, people * files_each)

    with ThreadPoolExecutor(people) as threads:
        list(threads.map(give_some, range(people)))
    assert len(names(tmp_path)) == (files_each if whose == "the same by all" else people * files_each)
    assert {file.read_text() for file in tmp_path.glob("*.txt")} == {"all"}
    assert len(names(tmp_path / "owners")) == people * files_each, "each file has all of its owners"


def test_who_gives_many_loses_them_and_nobody_else_s(tmp_path: Path) -> None:
    me, teacher = Visitor("me", "10.0.0.1"), Visitor("teacher", "10.0.0.2")

    def give_it(name: str, visitor: Visitor) -> None:
        write_for_visitor(tmp_path / f"{name}.txt", name, visitor, 2, 100)

    for name, visitor in (("old", teacher), ("shared", me), ("shared", teacher), ("programs", PROGRAM)):
        give_it(name, visitor)
    for name in "abc":
        give_it(name, me)
    assert names(tmp_path) == {"old.txt", "shared.txt", "programs.txt", "b.txt", "c.txt"}
    give_it("b", me)
    give_it("d", replace(me, address="10.0.0.3"))
    assert names(tmp_path) == {"old.txt", "shared.txt", "programs.txt", "b.txt", "d.txt"}, (
        "a visitor is one at all addresses"
    )

    for number in range(60):
        give_it(f"cookie {number}", Visitor(f"{number}", "10.0.0.4"))
    assert names(tmp_path) >= {"old.txt", "shared.txt", "programs.txt", "b.txt", "d.txt"}
    assert len(list(tmp_path.glob("cookie *"))) == 50, "an address has half of what all have"


def test_the_mark_of_a_file_that_is_gone_goes_too_and_takes_no_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = Visitor("me")
    for name in ("a.txt", "b.txt"):
        write_for_visitor(tmp_path / name, name, me, 2, 100)
    (tmp_path / "b.txt").unlink()
    write_for_visitor(tmp_path / "c.txt", "c", me, 2, 100)
    assert names(tmp_path) == {"a.txt", "c.txt"}
    monkeypatch.setattr(files, "STILL_SECONDS", 0.0)
    monkeypatch.setattr(files, "ABANDONED_SECONDS", 0.0)
    write_for_visitor(tmp_path / "d.txt", "d", me, 3, 100)
    assert names(tmp_path / "owners") == {"me.@a.txt", "me.@c.txt", "me.@d.txt"}


@pytest.mark.parametrize("former", ["anna", "ben"])
@pytest.mark.parametrize("when", ["is written", "has been written", "loses its mark", "would be deleted"])
def test_a_file_stays_that_a_visitor_gives_while_it_is_given_up(
    when: str, former: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ben gives a file that is the oldest of its former owner, who may be Ben in another tab and who gives another one just when it
    ..."""
    shared, write, move, todo = tmp_path / "shared.txt", Path.write_bytes, Path.replace, ["another", "again"]
    given_up = when in ("loses its mark", "would be deleted")

    def give_it(visitor: str, name: str, content: str = "given") -> None:
        write_for_visitor(tmp_path / f"{name}.txt", content, Visitor(visitor), 1, 100)

    def meanwhile(name: str, *, now: bool) -> bool:
        return now and name in todo and not todo.remove(name)

    def written(path: Path, content: bytes) -> int:
        if meanwhile("another", now=when == "is written" and path.name.startswith("shared")):
            give_it(former, "another")
        return write(path, content)

    def moved(path: Path, target: Path) -> Path:
        file = shared if when == "would be deleted" else tmp_path / "owners" / f"{former}.@shared.txt"
        if meanwhile("again", now=given_up and path == file):
            give_it("ben", "shared")
        done = move(path, target)
        if meanwhile("another", now=when == "has been written" and target == shared):
            give_it(former, "another")
        return done

    give_it(former, "shared")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", written)
        patch.setattr(Path, "replace", moved)
        if given_up:
            give_it(former, "another")
        else:
            give_it("ben", "shared")
    assert todo == ["another" if given_up else "again"], "the moment came"
    names_before, marks = names(tmp_path), names(tmp_path / "owners")
    if former == "anna":
        assert (names_before, marks) == ({"shared.txt", "another.txt"}, {"ben.@shared.txt", "anna.@another.txt"})
    else:
        assert len(names_before) == 1, "one of the two that Ben gave at once, as many as he may have"
        assert marks >= {f"ben.@{name}" for name in names_before}


def test_of_a_file_that_is_written_twice_while_it_is_deleted_the_last_content_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, move, contents = tmp_path / "0.txt", Path.replace, ["first", "second"]
    for number in range(2):
        write_whole(tmp_path / f"{number}.txt", "old")

    def moved(path: Path, target: Path) -> Path:
        if path != file or not contents:
            return move(path, target)
        write_whole(file, contents.pop(0))
        done = move(path, target)
        write_whole(file, contents.pop(0))
        return done

    monkeypatch.setattr(Path, "replace", moved)
    keep_newest(tmp_path, "*.txt", 1)
    assert file.read_text() == "second"
    assert names(tmp_path) == {"0.txt", "1.txt"}


def test_where_the_disk_takes_no_file_the_former_one_stays_and_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_for_visitor(tmp_path / "a.txt", "old", Visitor("anna"), 2, 100)

    monkeypatch.setattr(Path, "write_bytes", full)
    for name in ("a.txt", "b.txt"):
        with pytest.raises(OSError, match="No space"):
            write_for_visitor(tmp_path / name, "new", Visitor("anna"), 2, 100)
    monkeypatch.undo()
    for name in ("c.txt", "d.txt"):
        write_for_visitor(tmp_path / name, "new", Visitor("anna"), 2, 100)
    assert names(tmp_path) == {"c.txt", "d.txt"}


@pytest.mark.parametrize("hours", [-2, 2])
def test_what_was_just_written_stays_and_is_the_newest_whatever_the_clock_says(
    hours: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, texts, others = time.time_ns, tmp_path / "texts", tmp_path / "others"

    def write(name: str) -> None:
        write_for_visitor(texts / name, name, Visitor("anna"), 3, 100)
        with adding(others / name, 3) as half_written:
            half_written.write_text(name)

    for name in ("1.txt", "2.txt", "3.txt"):
        write(name)
    with replacing(texts / "slow.txt") as slow:
        slow.write_text("half")
        monkeypatch.setattr(time, "time_ns", lambda: real() + hours * 3600 * 10**9)
        for name in ("4.txt", "5.txt"):
            write(name)
            assert (texts / name).exists()
            assert (others / name).exists()
    assert names(texts) == {"3.txt", "4.txt", "5.txt", "slow.txt"}
    assert names(others) == {"3.txt", "4.txt", "5.txt"}
    note_use(texts / "3.txt")
    write("6.txt")
    assert (texts / "6.txt").exists()
    with adding(others / "7.txt", 1) as half_written:
        half_written.write_text("7")
        monkeypatch.setattr(time, "time_ns", lambda: real() + 9 * 3600 * 10**9)
        write_whole(others / "8.txt", "8")
        monkeypatch.setattr(time, "time_ns", real)
    assert (others / "7.txt").exists(), "also where another one has come with a later time meanwhile"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes")
def test_a_private_folder_is_read_by_nobody_else(tmp_path: Path) -> None:
    before = os.umask(0o022)
    folder = tmp_path / "data"
    folder.mkdir()
    try:
        keep_private(folder)
        write_whole(folder / "texts" / "own.txt", "words")
        child = "import sys; open(sys.argv[1], 'w').close()"
        subprocess.run([sys.executable, "-c", child, str(folder / "of-a-child")], check=True)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (folder, *folder.rglob("*"))}
    assert modes == {"data": 0o700, "texts": 0o700, "own.txt": 0o600, "of-a-child": 0o600}


def no_user(_: int) -> None:
    raise KeyError


def test_without_a_home_or_where_it_cannot_be_written_one_sentence_names_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    assert data_folder_problem() == ""
    (tmp_path / "file").touch()
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "file" / "data"))
    found = data_folder_problem()
    assert found.startswith(f"The data folder {tmp_path / 'file' / 'data'} cannot be written (")
    assert found.endswith(f"; set {DATA_VARIABLE} to a folder that can be written.")
    monkeypatch.setattr(files, "TemporaryFile", full)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    assert data_folder_problem() == "", "a full disk is no matter of the folder"

    for name in (DATA_VARIABLE, "HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", no_user)
    sentence = f"There is no home folder for data; set {DATA_VARIABLE} to a folder that can be written."
    assert data_folder_problem() == sentence
    with pytest.raises(NoDataFolder, match=DATA_VARIABLE):
        data_folder()

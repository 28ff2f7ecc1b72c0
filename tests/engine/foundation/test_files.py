"""A file is there as a whole or not at all, and a folder keeps its newest: what every store of this program stands on."""

import os
import stat
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import pytest

from engine.foundation.files import ABANDONED, keep_newest, keep_newest_of, keep_private, replacing, write_whole

LONG = 200_000
WRITER = f"""
import sys
from pathlib import Path
from engine.foundation.files import write_whole
for number in range(200):
    write_whole(Path(sys.argv[1]), sys.argv[2] * {LONG})
"""


def test_a_reader_sees_the_old_or_the_new_while_two_processes_and_a_thread_write(tmp_path: Path) -> None:
    file = tmp_path / "contended"
    write_whole(file, "a" * LONG)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(file), letter]) for letter in "bc"]
    thread = Thread(target=lambda: [write_whole(file, "d" * LONG) for _ in range(200)])
    thread.start()
    seen = set()
    while any(writer.poll() is None for writer in writers) or thread.is_alive():
        content = file.read_text()
        assert (len(content), len(set(content))) == (LONG, 1)
        seen.add(content[0])
    thread.join()
    assert [writer.returncode for writer in writers] == [0, 0]
    assert len(seen) > 1
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


def test_the_newest_are_kept_and_only_abandoned_half_written_files_are_deleted(tmp_path: Path) -> None:
    for number in range(6):
        write_whole(tmp_path / f"{number}.txt", "")
    write_whole(tmp_path / "other.json", "")
    time.sleep(0.02)  # a tick of the file system's own clock
    (tmp_path / "1.txt").touch()
    keep_newest(tmp_path, "*.txt", 3)
    assert {file.name for file in tmp_path.iterdir()} == {"1.txt", "4.txt", "5.txt", "other.json"}
    keep_newest(tmp_path / "nowhere", "*.txt", 3)

    for name, age in (("of-a-former-version.part", ABANDONED + 60), ("being-written.json.1234.part", 1)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (time.time() - age,) * 2)
    keep_newest(tmp_path, "*.json", 3)
    assert [file.name for file in tmp_path.glob("*.part")] == ["being-written.json.1234.part"]


def test_many_may_tidy_the_same_folder(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"{number}.txt").touch()
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda _: keep_newest(tmp_path, "*.txt", 10), range(4)))
    assert len(list(tmp_path.iterdir())) >= 10


def test_a_visitor_s_many_files_push_out_its_own_only(tmp_path: Path) -> None:
    def give(name: str, visitor: str) -> None:
        write_whole(tmp_path / name, name)
        keep_newest_of(tmp_path / name, visitor, 2)

    for name, visitor in (("old", "teacher"), ("shared", "me"), ("shared", "teacher"), ("programs", "")):
        give(name, visitor)
    for name in "abc":
        give(name, "me")
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {"old", "shared", "programs", "b", "c"}
    give("b", "me")
    give("d", "me")
    assert {file.name for file in tmp_path.iterdir() if file.is_file()} == {"old", "shared", "programs", "b", "d"}

    (tmp_path / "d").unlink()
    give("e", "me")
    assert not (tmp_path / "owners" / "me@d").exists(), "the mark of a file that is gone goes, too"


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

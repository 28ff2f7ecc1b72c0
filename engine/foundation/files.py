"""The folder of this program's data; files written atomically; folders that keep only their newest files."""

import errno
import hashlib
import os
import secrets
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryFile

from platformdirs import user_data_path

from engine.foundation.errors import Refused
from engine.foundation.visitor import Visitor

DATA_VARIABLE = "ATTENTION_LAB_DATA"
SET_DATA_FOLDER = f"set {DATA_VARIABLE} to a folder that can be written"
DISK_FULL = (errno.ENOSPC, errno.EDQUOT)  # the disk has no room now
# seconds without a change after which a half-written file counts as abandoned: its writer was killed
ABANDONED_SECONDS = 3600.0
STILL_SECONDS = 60.0  # seconds that must also pass by this process's own clock: the system's may have been set forward
HALF_WRITTEN = ".part"
# The folder beside files that visitors gave: an empty file "<visitor>.<address>@<name>" for each visitor and file. The network
# address is a digest, empty if it is not known.
OWNERS = "owners"


class NoDataFolder(Refused, OSError):
    pass


def data_folder() -> Path:
    """The user's data directory of this program, or the one named in ATTENTION_LAB_DATA. Raises NoDataFolder."""
    if given := os.environ.get(DATA_VARIABLE):
        return Path(given)
    try:
        return user_data_path("attention-lab", appauthor=False)
    except RuntimeError:  # a user without a home, as in some containers
        raise NoDataFolder(f"There is no home folder for data; {SET_DATA_FOLDER}.") from None


def data_folder_problem() -> str:
    """One sentence on why the data folder cannot be written, with the remedy; empty if it can."""
    try:
        folder = data_folder()
    except NoDataFolder as error:
        return str(error)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        # a full disk may have room again, another folder would not help
        if error.errno not in DISK_FULL:
            return f"The data folder {folder} cannot be written ({error.strerror}); {SET_DATA_FOLDER}."
    return ""


def keep_private(folder: Path) -> None:
    """Make a folder that only this user can read; so is all that this process and its children write from now on."""
    os.umask(0o077)
    # some systems do not let us change a folder's mode; it then stays as it is
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)


@contextmanager
def replacing(file: Path, later_than: int = 0, *, flushed: bool = True) -> Iterator[Path]:
    """A path in the same folder to write to. At the end it replaces ``file`` in one step: a reader sees the old content
    or the new; after an error the old content stays. Makes the folder.

    ``later_than``: nanoseconds since 1970; the file counts as changed after it, whatever the clock says. ``flushed``:
    wait until the disk has the content, which takes a fraction of a second where others write much; without it a loss
    of power may leave the new file damaged.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    half_written = _half_written(file)
    try:
        yield half_written
        if flushed:
            with half_written.open("rb+") as stream:
                os.fsync(stream.fileno())
        _set_changed(half_written, later_than + 1)
        half_written.replace(file)
    except BaseException:
        with suppress(OSError):
            half_written.unlink()
        raise


def write_whole(file: Path, content: bytes | str, later_than: int = 0) -> None:
    """Write a file in one step; text in UTF-8. Raises OSError, with ``file`` unchanged."""
    with replacing(file, later_than) as half_written:
        half_written.write_bytes(content.encode() if isinstance(content, str) else content)


def append_whole(file: Path, content: str) -> None:
    """Append to a file, in UTF-8. Raises OSError if the disk does not take all of it; ``file`` is then as long as
    before."""
    with file.open("ab", buffering=0) as stream:  # a buffer would be written again when the file is closed
        length, rest = stream.tell(), memoryview(content.encode())
        try:
            while rest:
                rest = rest[stream.write(rest) :]
        except OSError:
            with suppress(OSError):
                stream.truncate(length)
            raise


@contextmanager
def adding(file: Path, count: int) -> Iterator[Path]:
    """Like :func:`replacing`, in a folder that keeps its newest ``count`` files of this ending. The file counts as the
    newest of them, also after the clock was set back."""
    with replacing(file, newest_beside(file)) as half_written:
        yield half_written
    keep_newest(file.parent, f"*{file.suffix}", count, spared=(file,))


def keep_newest(folder: Path, pattern: str, count: int, *, spared: Collection[Path] = ()) -> None:
    """Delete all but the ``count`` files written or used last, and abandoned half-written files. The ``spared`` stay,
    however old, and count among the newest."""
    changed = _ages(folder.glob(pattern))
    for file in _above(changed, count, spared):
        _delete(file, changed[file])
    delete_abandoned(folder.glob(f"*{HALF_WRITTEN}"))


def write_for_visitor(
    file: Path, content: bytes | str, visitor: Visitor, most_of_visitor: int, most: int, *, in_use: Collection[Path] = ()
) -> None:  # fmt: skip
    """Write a visitor's file. The folder keeps the newest ``most`` files of this ending: at most ``most_of_visitor``
    of a visitor and half of ``most`` of a network address, so that a visitor with many files loses only their own. Files
    ``in_use`` stay, whatever their number. Raises OSError; the earlier file of that name, if any, is then unchanged.

    A file that several visitors wrote stays as long as it is among the newest of one of them. The program itself and
    visitors of unknown address have no such limits.
    """
    owners = file.parent / OWNERS
    owners.mkdir(parents=True, exist_ok=True)
    address, spared = _address_in_mark(visitor), {file, *in_use}
    mark = owners / f"{visitor.id}.{address}@{file.name}"
    _mark(mark)  # it stands before its file, so that nobody takes the file for one without an owner
    write_whole(file, content, newest_beside(file))
    with suppress(OSError):
        _mark(mark)  # once more: the same visitor may have given up the former file of this name meanwhile
    if visitor.id:
        _keep_newest_of(owners, f"{visitor.id}.*", most_of_visitor, spared)
    if address:
        _keep_newest_of(owners, f"*.{address}", most // 2, spared)
    keep_newest(file.parent, f"*{file.suffix}", most, spared=spared)
    delete_abandoned(other for other in owners.glob("*@*") if not _file_of_mark(other).exists())


def files_of_visitor(visitor: str, folder: Path) -> list[Path]:
    return _files_with_marks(folder, f"{visitor}.*@*")


def files_near(visitor: Visitor, folder: Path) -> list[Path]:
    address = _address_in_mark(visitor)
    return _files_with_marks(folder, f"*.{address}@*") if address else []


def _files_with_marks(folder: Path, marks: str) -> list[Path]:
    return [file for file in set(map(_file_of_mark, (folder / OWNERS).glob(marks))) if file.exists()]


def note_use(file: Path) -> None:
    """Mark a file as changed now, and never earlier than before. Raises OSError."""
    # the clock may have been set back
    _set_changed(file, file.stat().st_mtime_ns)


def delete_abandoned(paths: Iterable[Path]) -> None:
    for path in paths:
        changed = _change_time(path)
        if is_abandoned(path, changed):
            _delete(path, changed)


def is_abandoned(path: Path, changed: int | None = None) -> bool:
    """True if nothing has changed for :data:`ABANDONED_SECONDS` seconds in a half-written file or folder, and for :data:`STILL_SECONDS`
    seconds by this process's own clock. ``changed``: the time of its last change, if it was read already."""
    changed = _change_time(path) if changed is None else changed
    if time.time_ns() - changed <= ABANDONED_SECONDS * 1e9:
        return False
    first = _first_check_time(path, changed)
    return time.monotonic() - first >= STILL_SECONDS


@lru_cache(4096)
def _first_check_time(path: Path, changed: int) -> float:
    # by a clock that nobody sets
    return time.monotonic()


def _keep_newest_of(owners: Path, whose: str, count: int, spared: Collection[Path]) -> None:
    """Delete an owner's marks on all but its ``count`` newest files, and then each of these older files without another
    mark. ``whose``: the pattern of the owner in names of marks."""
    # marks first: a visitor who gives a file again writes its mark last, so after a new mark the file is read as new,
    # too
    marks = _ages(owners.glob(f"{whose}@*"))
    changed = _ages({_file_of_mark(mark) for mark in marks})
    for file in _above(changed, count, spared):
        for mark in marks:
            if _file_of_mark(mark) == file:
                _delete(mark, marks[mark])
        if not any(owners.glob(f"*@{file.name}")):
            _delete(file, changed[file])


def _file_of_mark(mark: Path) -> Path:
    return mark.parent.parent / mark.name.partition("@")[2]


def _address_in_mark(visitor: Visitor) -> str:
    return hashlib.sha256(visitor.network.encode()).hexdigest()[:16] if visitor.network else ""


def _mark(mark: Path) -> None:
    mark.touch()
    _set_changed(mark, 0)


def newest_beside(file: Path) -> int:
    return max(_ages(file.parent.glob(f"*{file.suffix}")).values(), default=0)


def _half_written(file: Path) -> Path:
    return file.with_name(f"{file.name}.{secrets.token_hex(4)}{HALF_WRITTEN}")


def _set_changed(path: Path, least: int) -> None:
    """``least``: the earliest time to set, in nanoseconds since 1970."""
    # the file system's own clock may tick too coarsely to tell which of two files is newer
    now = max(time.time_ns(), least)
    os.utime(path, ns=(now, now))


def _delete(path: Path, changed: int) -> None:
    """``changed``: the file's age as it was read; a file that has changed since is not deleted."""
    # set aside first, and put back if somebody has written or used it meanwhile
    aside = _half_written(path)
    with suppress(OSError):
        path.replace(aside)
        if _change_time(aside) == changed or path.exists():
            aside.unlink()
        else:
            aside.replace(path)


def _above(changed: Mapping[Path, int], count: int, spared: Collection[Path]) -> list[Path]:
    # the spared count as the newest
    ordered = sorted(changed, key=lambda file: (file in spared, changed[file]), reverse=True)
    return [file for file in ordered[count:] if file not in spared]


def _ages(paths: Iterable[Path]) -> dict[Path, int]:
    return {path: changed for path in paths if path.suffix != HALF_WRITTEN and (changed := _change_time(path))}


def _change_time(path: Path) -> int:
    """Nanoseconds since 1970; 0 for a file that another process has deleted."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0

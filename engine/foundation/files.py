"""The folder of this program's data; writing files atomically, and keeping only the newest files of a folder."""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from platformdirs import user_data_path

DATA_VARIABLE = "ATTENTION_LAB_DATA"
ABANDONED = 3600.0
"""Seconds without a change after which a half-written file counts as abandoned: the process that wrote it was killed."""
OWNERS = "owners"
"""The folder beside files that visitors gave. It holds an empty file "<visitor>@<name>" for each visitor and file."""


def data_folder() -> Path:
    """The user's data directory of this program, or the directory named in the environment variable ATTENTION_LAB_DATA."""
    given = os.environ.get(DATA_VARIABLE)
    return Path(given) if given else user_data_path("attention-lab", appauthor=False)


def keep_private(folder: Path) -> None:
    """Make a folder that only this user of the computer can read, and so everything that this process and its children write from
    now on. A folder whose mode the system does not let us change stays as it is.
    """
    os.umask(0o077)
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o700)


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """A path in the same folder to write to. At the end it replaces ``file`` in one step, so that a reader sees the old content
    or the new, also after a loss of power; after an error the old content stays and nothing else remains. Makes the folder.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    half_written = file.with_name(f"{file.name}.{secrets.token_hex(4)}.part")
    try:
        yield half_written
        with half_written.open("rb+") as stream:
            os.fsync(stream.fileno())
        now = time.time_ns()  # a file system's own clock may tick too coarsely to tell which of two files is newer
        os.utime(half_written, ns=(now, now))
        half_written.replace(file)
    except BaseException:
        with suppress(OSError):
            half_written.unlink()
        raise


def write_whole(file: Path, content: bytes | str) -> None:
    """Write a file in one step; text in UTF-8. Raises OSError where the disk does not take it; ``file`` is then unchanged."""
    with replacing(file) as half_written:
        half_written.write_bytes(content.encode() if isinstance(content, str) else content)


def append_whole(file: Path, content: str) -> None:
    """Append to a file, in UTF-8. Raises OSError where the disk does not take all of it; ``file`` is then as long as before."""
    with file.open("ab", buffering=0) as stream:  # a buffer would be written again when the file is closed
        length, left = stream.tell(), memoryview(content.encode())
        try:
            while left:
                left = left[stream.write(left) :]
        except OSError:
            with suppress(OSError):
                stream.truncate(length)
            raise


def keep_newest(folder: Path, pattern: str, count: int) -> None:
    """Delete all but the ``count`` files written or touched last, and abandoned half-written files."""
    newest_first = sorted(folder.glob(pattern), key=_changed, reverse=True)
    for file in [*newest_first[count:], *filter(is_abandoned, folder.glob("*.part"))]:
        with suppress(OSError):
            file.unlink()


def keep_newest_of(file: Path, visitor: str, count: int) -> None:
    """Note that a visitor gave a file, and delete all but the newest ``count`` files that it gave to this folder.

    A file that several gave stays while one of them keeps it. The program itself (an empty ``visitor``) keeps all of its own.
    """
    owners = file.parent / OWNERS
    write_whole(owners / f"{visitor}@{file.name}", "")
    for mark in sorted(owners.glob(f"{visitor}@*"), key=_changed, reverse=True)[count:] if visitor else ():
        name = mark.name.partition("@")[2]
        with suppress(OSError):
            mark.unlink()
            if not any(owners.glob(f"*@{name}")):
                (file.parent / name).unlink()
    for mark in owners.glob("*@*"):  # of files that were deleted for another reason
        if not (file.parent / mark.name.partition("@")[2]).exists():
            mark.unlink(missing_ok=True)


def given_by(visitor: str, folder: Path) -> list[Path]:
    """The files that a visitor gave to a folder (see :func:`keep_newest_of`) and that are there."""
    names = (mark.name.partition("@")[2] for mark in (folder / OWNERS).glob(f"{visitor}@*"))
    return [folder / name for name in names if (folder / name).exists()]


def is_abandoned(path: Path) -> bool:
    """Whether nothing has changed for :data:`ABANDONED` seconds in a file or folder that was still being written."""
    return time.time() - _changed(path) > ABANDONED


def _changed(path: Path) -> float:
    """Seconds since 1970; 0 for a file that another process has deleted, so that it counts among the oldest."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0

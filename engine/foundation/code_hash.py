"""A short hash of the code that determines numbers: results stored under it are never read by other code."""

import hashlib
from collections.abc import Collection, Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import engine
from engine.foundation.once import once

ENGINE = Path(engine.__file__).parent
# no training and no scoring imports these; all other code counts, since to train once more costs less than a wrong
# number
EXCLUDED = ("cli", "experiments/sweeps", "serving")
# they compute the numbers
LIBRARIES = ("numpy", "torch")


@once
def code_hash(folder: Path = ENGINE) -> str:
    """The hash of the Python files and the plays in ``folder``, their paths in it, and the libraries' versions.

    In 16 hexadecimal digits. Computed once in a process, on the first call, in some milliseconds.
    """
    return _hash(folder, EXCLUDED, map(installed_version, LIBRARIES))


@once
def program_hash() -> str:
    """The hash of all of the engine's files and of the libraries' versions: programs with the same one work together."""
    # builds of a library for a CPU and for a GPU (2.13.0+cpu, 2.13.0+cu128) count as the same
    return _hash(ENGINE, (), (installed_version(library).partition("+")[0] for library in LIBRARIES))


def _hash(folder: Path, left_out: Collection[str], versions: Iterable[str]) -> str:
    digest = hashlib.sha256(" ".join(versions).encode())
    for file in sorted([*folder.rglob("*.py"), *folder.glob("tasks/text/*.zip")]):
        path = file.relative_to(folder)
        if not any(path.is_relative_to(part) for part in left_out):
            digest.update(f"\n{path.as_posix()} {file.stat().st_size}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


@once
def installed_version(library: str) -> str:
    """The version, or ``none`` if the library is not installed; the library is not imported."""
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"

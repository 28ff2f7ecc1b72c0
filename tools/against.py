"""Another commit of the program, measured in turns with this one: a separate checkout, from which a server can be started."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from engine.foundation.provenance import COMMIT_DIGITS, commit
from tools.server import ROOT


@contextmanager
def checkout(other: str) -> Iterator[Path]:
    """The folder of a commit inside the block, compiled as this one is. Raises ValueError if there is no such commit."""
    revision = _git("rev-parse", "--verify", "--quiet", f"{other}^{{commit}}")
    if revision.returncode:
        raise ValueError(f"against is {other}; it must be a commit of this repository.")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "program"
        _git("worktree", "add", "--detach", str(path), revision.stdout.strip()).check_returncode()
        try:
            subprocess.run([sys.executable, "-m", "compileall", "-q", "engine", "pages"], cwd=path, check=False)
            yield path
        finally:
            _git("worktree", "remove", "--force", str(path))


def name_of(root: Path) -> str:
    """The first digits of a folder's commit; with ``-dirty`` if a Python file has been changed since."""
    head, _, dirty = commit(root).partition("-")
    return "-".join(filter(None, (head[:COMMIT_DIGITS], dirty))) or "unknown"


def _git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True)

"""A copy of the project, to be changed and run."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.serving import ROOT

GIT = ("git", "-c", "user.name=Tests", "-c", "user.email=tests@localhost", "-c", "core.excludesFile=/dev/null")


class Project:
    """The project's files as git knows them, committed once, so that git tells what changed since."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in _output(ROOT, "git", "ls-files", "-z").split("\0"):
            if name and (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, folder / name)
        for command in ("init --quiet", "add --all --force", "commit --quiet --message=before"):
            _output(folder, *GIT, *command.split())

    def changed(self) -> dict[str, str]:
        """The files that differ from the original: by path ``??`` if it is new, ``M`` if it was changed."""
        rows = _output(self.folder, *GIT, "status", "--porcelain", "--untracked-files=all").splitlines()
        return {row[3:]: row[:2].strip() for row in rows}

    def run(self, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
        program = Path(sys.executable).parent / command[0]
        return subprocess.run(
            [program, *command[1:]], cwd=self.folder, env={**os.environ, **environment}, capture_output=True, text=True
        )


def _output(folder: Path, *command: str) -> str:
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout

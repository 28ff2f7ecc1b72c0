import subprocess
import sys
from pathlib import Path

import pytest

from tests.serving import ROOT


@pytest.mark.parametrize("command", ["ruff check", "ruff format --check", "mypy"])
def test_a_check_finds_nothing(command: str) -> None:
    program, *arguments = command.split()
    done = subprocess.run([Path(sys.executable).parent / program, *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr

"""The contracts between packages are seen to fail: one forbidden import in a copy breaks the one contract that forbids it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FORBIDDEN = {
    "Engine: a room imports only from those below it": [("engine/settings/base.py", "engine.config.presets")],
    "The engine knows no screen": [
        ("engine/runs/events.py", "streamlit"),
        ("engine/cli/tables.py", "pages.parts.charts.base"),
    ],
    "Only what computes imports torch": [
        ("pages/parts/charts/base.py", "torch.nn"),
        ("pages/parts/app/server.py", "safetensors"),
        ("engine/settings/base.py", "torch"),
        ("engine/encodings/alibi/spec.py", "torch"),
        ("engine/tasks/copy/spec.py", "torch"),
        ("engine/workers/pool.py", "torch"),
        ("engine/runs/folder.py", "safetensors.torch"),
    ],
    "No page imports another page's folder": [("pages/parts/text/form.py", "pages.parts.lab.facts")],
    "Pages: what is shared imports only from what lies below it": [
        ("pages/parts/app/session.py", "pages.parts.charts.colors")
    ],
}
"""By contract: a file, and what it may not import."""


def broken(folder: Path) -> set[str]:
    """The names of the contracts that are broken there, as ``lint-imports`` tells them."""
    program = Path(sys.executable).parent / "lint-imports"
    told = subprocess.run([program, "--no-cache"], cwd=folder, capture_output=True, text=True)
    names = set(re.findall(r"^(.*\S) BROKEN$", told.stdout, flags=re.M))
    assert bool(names) == bool(told.returncode), told.stdout + told.stderr
    return names


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    for package in ("engine", "pages"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    assert broken(folder) == set()
    return folder


@pytest.mark.parametrize(
    ("contract", "file", "module"), [(name, *case) for name, cases in FORBIDDEN.items() for case in cases]
)
def test_a_forbidden_import_breaks_its_contract(copy: Path, contract: str, file: str, module: str) -> None:
    path = copy / file
    before = path.read_text()
    path.write_text(f"{before}\nimport {module}\n")
    found = broken(copy)
    path.write_text(before)
    assert found == {contract}


def test_every_contract_is_among_them() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    assert {contract["name"] for contract in contracts} == set(FORBIDDEN)

"""The page's way to Python, followed to the word in a copy of the project: what it shows is put where it says, and checked as it says."""

import re
from pathlib import Path

import pytest

from tests.acceptance.project import Project
from tests.pages.looking import Open
from tests.tables import tables_beside

CASES = tables_beside(__file__)

pytestmark = pytest.mark.acceptance
DESIGNS = CASES["designs"]
"""Ten designs with every feature, read-out and place: features, read-out, place, and what is learned."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("project"))
    (project.folder / "engine/encodings/my_encoding").mkdir()
    return project


@pytest.mark.parametrize("design", DESIGNS, ids="-".join)
def test_a_design_passes_all_checks(design: tuple[str, ...], project: Project, open_page: Open, tmp_path: Path) -> None:
    names = ("design_features", "design_readout", "design_place", "design_learned")
    app = open_page("design.py", **dict(zip(names, design, strict=True)))
    assert not app.warning, "the link is this design"
    layer, spec, commands = (block.value for block in app.code[-3:])
    folder, registry = project.folder / "engine/encodings/my_encoding", project.folder / "engine/encodings/__init__.py"
    for file, text in (("layer", layer), ("__init__", spec)):
        (folder / f"{file}.py").write_text(text + "\n")
    if '"my_encoding",' not in registry.read_text():
        registry.write_text(re.sub(r"^NAMES = \(\n", r'\g<0>    "my_encoding",\n', registry.read_text(), flags=re.M))
    for command in ("ruff check .", "mypy", *commands.splitlines()):
        done = project.run(*command.split(), ATTENTION_LAB_DATA=str(tmp_path))
        assert done.returncode == 0, command + done.stdout[-10_000:] + done.stderr[-5_000:]

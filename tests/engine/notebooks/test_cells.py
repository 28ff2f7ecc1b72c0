"""The percent format: cells, steps, and the same cells as a Jupyter notebook."""

from pathlib import Path

import nbformat
import pytest

from engine import VERSION
from engine.notebooks import FOLDER, NOTEBOOKS, Notebook
from engine.notebooks.cells import read_cells, steps_of
from engine.notebooks.ipynb import to_ipynb

ROOT = Path(__file__).parents[3]
FILE = Path(__file__).with_name("cells.txt").read_text("utf-8")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "some.py"
    place.write_text(FILE)
    return place


def test_cells_come_in_order_and_a_step_is_a_heading_and_what_follows(file: Path) -> None:
    cells = read_cells(file)
    assert [cell.kind for cell in cells] == ["markdown", "markdown", "code", "code", "markdown", "markdown", "code"]
    assert [cell.number for cell in cells] == list(range(7))
    assert cells[0].source == "# Title\n\nIntroduction."
    assert cells[2].source == "x = 1\n\n\ndef twice(n):\n    return 2 * n"

    assert [cell.asserts for cell in cells if cell.kind == "code"] == [None, "Two is twice one.", None]

    introduction, first, second = steps_of(cells)
    assert (introduction.number, introduction.title) == (0, "Title")
    assert introduction.cells[0].source == "Introduction."
    assert (first.number, first.title, [cell.number for cell in first.code]) == (1, "First step", [2, 3])
    assert first.cells[0].source == "Words."
    assert (second.title, [cell.number for cell in second.code]) == ("Second step", [6])


@pytest.mark.parametrize(
    ("text", "named"),
    [("x = 1\n", "has no cells"), ("# %% [markdown]\n# Words.\nx = 1\n", "'x = 1' in a cell of text")],
)
def test_a_file_that_is_no_notebook_is_named(tmp_path: Path, text: str, named: str) -> None:
    place = tmp_path / "wrong.py"
    place.write_text(text)
    with pytest.raises(ValueError, match=named):
        read_cells(place)


@pytest.mark.parametrize("notebook", NOTEBOOKS.values(), ids=lambda notebook: notebook.slug)
def test_every_notebook_explains_and_tests_what_it_does_and_its_download_has_the_same_cells(notebook: Notebook) -> None:
    read = nbformat.reads(to_ipynb(notebook), as_version=4)
    nbformat.validate(read)
    assert read.cells[0].source.startswith("# What this notebook needs")
    own = [(cell.cell_type, cell.source) for cell in read.cells[2 if notebook.plays else 1 :]]
    assert own == [(cell.kind, cell.source) for cell in notebook.cells]
    assert len(to_ipynb(notebook)) < 1_000_000
    assert read.metadata["attention_lab"]["version"] == VERSION
    tested = [cell.source for cell in read.cells if "test" in cell.metadata.get("tags", [])]
    assert tested == [cell.source for cell in notebook.cells if cell.asserts]
    introduction, *steps = notebook.steps
    assert not introduction.code
    assert all(step.cells[0].kind == "markdown" and step.cells[0].source for step in steps), "no code without words"
    assert len({step.title for step in steps}) == len(steps)
    assert sum(cell.asserts is not None for cell in notebook.cells) >= 5
    assert "engine" not in to_ipynb(notebook), "it runs without this program"


def test_the_notebooks_are_the_files_of_their_folder_and_an_image_has_them() -> None:
    assert {notebook.file for notebook in NOTEBOOKS.values()} == set(FOLDER.glob("*.py"))
    folder = FOLDER.relative_to(ROOT)
    assert f"COPY {folder} {folder}\n" in (ROOT / "Dockerfile").read_text()

from pathlib import Path

import nbformat
import pytest

from pages.parts.notebooks.cells import FIGURE, read_cells, steps_of
from pages.parts.notebooks.notebook import FOLDER, NOTEBOOKS, Notebook

ROOT = Path(__file__).parents[3]
FIGURES = {"data": [], "layout": {}}
STORED = {
    "cells": [
        {"cell_type": "code", "metadata": {"tags": ["setup"]}, "source": ["import x"], "outputs": []},
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title\n", "\n", "Introduction."]},
        {"cell_type": "markdown", "metadata": {}, "source": ["## First step\n", "\n", "Words."]},
        {
            "cell_type": "code",
            "metadata": {},
            "source": ["x = 1\n", "x"],
            "outputs": [
                {"output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"]},
                {"output_type": "execute_result", "data": {"text/plain": ["1"]}},
                {"output_type": "display_data", "data": {FIGURE: FIGURES}},
            ],
        },
        {"cell_type": "code", "metadata": {}, "source": ["# Test: One is one.\n", "assert x == 1"], "outputs": []},
        {"cell_type": "markdown", "metadata": {}, "source": ["## Second step"]},
    ]
}


def test_cells_come_in_order_with_their_outputs_and_a_step_is_a_heading_and_what_follows() -> None:
    cells = read_cells(STORED)
    assert [cell.kind for cell in cells] == ["markdown", "markdown", "code", "code", "markdown"]
    assert [cell.number for cell in cells] == list(range(5))
    assert (cells[2].source, cells[2].text, cells[2].figures) == ("x = 1\nx", "one\ntwo\n1\n", (FIGURES,))
    assert [cell.asserts for cell in cells if cell.kind == "code"] == [None, "One is one."]

    introduction, first, second = steps_of(cells)
    assert (introduction.number, introduction.title) == (0, "Title")
    assert introduction.cells[0].source == "Introduction."
    assert (first.number, first.title, [cell.number for cell in first.code]) == (1, "First step", [2, 3])
    assert first.cells[0].source == "Words."
    assert (second.title, second.code) == ("Second step", ())


@pytest.mark.parametrize("notebook", NOTEBOOKS.values(), ids=lambda notebook: notebook.slug)
def test_every_notebook_explains_tests_and_shows_what_it_does_and_is_small(notebook: Notebook) -> None:
    text = notebook.file.read_text("utf-8")
    read = nbformat.reads(text, as_version=4)
    nbformat.validate(read)
    assert len(text) < 1_000_000
    assert read.cells[0].source.startswith("# What this notebook needs")
    introduction, *steps = notebook.steps
    assert not introduction.code
    assert all(step.cells[0].kind == "markdown" and step.cells[0].source for step in steps), "no code without words"
    assert len({step.title for step in steps}) == len(steps)
    assert sum(cell.asserts is not None for cell in notebook.cells) >= 5
    assert any(cell.figures for cell in notebook.cells)
    assert any(cell.text for cell in notebook.cells)
    assert not any("engine" in cell.source for cell in read.cells), "it runs without this program"
    assert notebook.origin.startswith("version ")


def test_the_notebooks_are_the_files_of_their_folder_and_an_image_has_them() -> None:
    assert {notebook.file for notebook in NOTEBOOKS.values()} == set(FOLDER.glob("*.ipynb"))
    assert {notebook.file.with_suffix(".py") for notebook in NOTEBOOKS.values()} == set(FOLDER.glob("*.py"))
    folder = FOLDER.relative_to(ROOT)
    assert f"COPY {folder} {folder}\n" in (ROOT / "Dockerfile").read_text()

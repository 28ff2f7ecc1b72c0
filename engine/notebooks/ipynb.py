"""Export of a notebook as a Jupyter notebook (format 4.5), which runs by itself."""

from __future__ import annotations

import json
from typing import Any

from engine.notebooks import Notebook
from engine.notebooks.cells import Cell

NEEDS = """# What this notebook needs. Where something is missing, take the sign before the percent away and run this cell.
# %pip install torch plotly nbformat"""


def to_ipynb(notebook: Notebook) -> str:
    """The text of an ``.ipynb`` file: a cell with the requirements, then the notebook's own cells, without outputs."""
    cells = [_cell("needs", "code", NEEDS), *(_of(cell) for cell in notebook.cells)]
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "title": notebook.title,
    }
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _of(cell: Cell) -> dict[str, Any]:
    return _cell(f"cell-{cell.number}", cell.kind, cell.source, ["test"] if cell.asserts else [])


def _cell(name: str, kind: str, source: str, tags: list[str] | None = None) -> dict[str, Any]:
    outputs: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    metadata = {"tags": tags} if tags else {}
    return {"cell_type": kind, "id": name, "metadata": metadata, "source": source.splitlines(True)} | outputs

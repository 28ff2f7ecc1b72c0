"""Export of a notebook as a Jupyter notebook (format 4.5), which runs by itself: the plays that it reads are packed into a cell."""

import json
from base64 import b64encode
from functools import cache
from io import BytesIO
from textwrap import fill
from typing import Any
from zipfile import ZIP_BZIP2, ZipFile, ZipInfo

from engine.foundation.provenance import provenance
from engine.notebooks import Notebook
from engine.notebooks.cells import Cell
from engine.text.plays import ARCHIVE

NEEDS = """# What this notebook needs. Where something is missing, take the sign before the percent away and run this cell.
# %pip install torch plotly nbformat"""
UNPACK = '''# Plays by Shakespeare, packed. This cell writes them into the file shakespeare.zip beside the notebook.
import base64
from pathlib import Path

PACKED = """
{packed}
"""
Path("shakespeare.zip").write_bytes(base64.b64decode(PACKED))'''
HIDDEN = {"jupyter": {"source_hidden": True}}
"""Jupyter shows such a cell folded: it has thousands of lines."""


@cache
def to_ipynb(notebook: Notebook) -> str:
    """The text of an ``.ipynb`` file: the requirements, the plays where it reads any, then the notebook's own cells, without outputs."""
    cells = [_cell("needs", "code", NEEDS, {}), *(_of(cell) for cell in notebook.cells)]
    if notebook.plays:
        cells.insert(1, _cell("plays", "code", UNPACK.format(packed=_packed(notebook.plays)), HIDDEN))
    metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
        "title": notebook.title,
        "attention_lab": provenance(),
    }
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1) + "\n"


def _packed(groups: tuple[str, ...]) -> str:
    """An archive of all plays of these groups, with their source and licence, as lines of base64."""
    packed = BytesIO()
    with ZipFile(ARCHIVE) as plays, ZipFile(packed, "w") as archive:
        for member in plays.namelist():
            if member.partition("/")[0] in ("README.md", *groups):
                archive.writestr(ZipInfo(member), plays.read(member), ZIP_BZIP2)
    return fill(b64encode(packed.getvalue()).decode(), 160)


def _of(cell: Cell) -> dict[str, Any]:
    return _cell(f"cell-{cell.number}", cell.kind, cell.source, {"tags": ["test"]} if cell.asserts else {})


def _cell(name: str, kind: str, source: str, metadata: dict[str, Any]) -> dict[str, Any]:
    outputs: dict[str, Any] = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": metadata, "source": source.splitlines(True)} | outputs

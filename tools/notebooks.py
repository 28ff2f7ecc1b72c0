"""Run the notebooks of ``docs/notebooks`` and store them there with their outputs, which the app shows:

    python -m tools.notebooks                 all of them, some minutes
    python -m tools.notebooks mean-pooling

A notebook is written in the percent format of Jupytext (``<name>.py``); the stored one (``<name>.ipynb``) runs by itself: the plays that it
reads are packed into a cell.
"""

import argparse
import json
from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import Any
from zipfile import ZIP_BZIP2, ZipFile, ZipInfo

import jupytext
import nbformat
import plotly.graph_objects as go
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from engine.foundation.files import write_whole
from engine.foundation.json_lines import with_digits
from engine.foundation.provenance import provenance
from engine.tasks.text.plays import ARCHIVE
from pages.parts.notebooks.cells import FIGURE, SETUP, TEST, TESTS
from pages.parts.notebooks.notebook import FOLDER, NOTEBOOKS, Notebook

NEEDS = """# What this notebook needs. Where something is missing, remove the # before %pip and run this cell.
# %pip install torch plotly nbformat"""
UNPACK = '''# Plays by Shakespeare, packed. This cell writes them into the file shakespeare.zip beside the notebook.
import base64
from pathlib import Path

PACKED = """
{packed}
"""
Path("shakespeare.zip").write_bytes(base64.b64decode(PACKED))'''
MAX_CELL_SECONDS = 3600  # seconds
DIGITS = 5  # significant, of the numbers in stored figures


def written(notebook: Notebook) -> NotebookNode:
    """The notebook without outputs, after the cells that let it run alone."""
    read = jupytext.read(notebook.file.with_suffix(".py"), fmt="py:percent")
    setup = [new_code_cell(NEEDS, metadata={"tags": [SETUP]})]
    if notebook.plays:
        hidden = {"tags": [SETUP], "jupyter": {"source_hidden": True}}  # it has thousands of lines
        setup.append(new_code_cell(UNPACK.format(packed=_packed(notebook.plays)), metadata=hidden))
    cells = read.cells[1:]  # the first is the file's docstring
    for cell in cells:
        cell.metadata = {"tags": [TEST]} if cell.cell_type == "code" and cell.source.startswith(TESTS) else {}
    for number, cell in enumerate([*setup, *cells], start=-len(setup)):
        cell.id = f"cell-{number}" if number >= 0 else f"setup-{-number}"
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}, "attention_lab": provenance()}
    whole: NotebookNode = nbformat.v4.new_notebook(cells=[*setup, *cells], metadata=metadata)
    return whole


def run(read: NotebookNode) -> NotebookNode:
    """Run the cells in a temporary folder. Raises CellExecutionError if one fails."""
    with TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(read, timeout=MAX_CELL_SECONDS, record_timing=False, resources=resources).execute()
    for output in (output for cell in read.cells for output in cell.get("outputs", ())):
        if FIGURE in output.get("data", {}):
            output.data = {FIGURE: _plain(output.data[FIGURE])}
    read.metadata.language_info = {"name": "python"}
    return read


def _packed(groups: Sequence[str]) -> str:
    """An archive of all plays of these groups, with their source and licence, as lines of base64."""
    packed = BytesIO()
    with ZipFile(ARCHIVE) as plays, ZipFile(packed, "w") as archive:
        for member in plays.namelist():
            if member.partition("/")[0] in ("README.md", *groups):
                archive.writestr(ZipInfo(member), plays.read(member), ZIP_BZIP2)
    return fill(b64encode(packed.getvalue()).decode(), 160)


def _plain(drawn: Any) -> Any:
    """A Plotly figure's data and layout with lists instead of packed arrays, and without its template."""
    figure = go.Figure(data=drawn["data"], layout={**drawn["layout"], "template": None})
    plain = {"data": [trace.to_plotly_json() for trace in figure.data], "layout": figure.layout.to_plotly_json()}
    plain["layout"].pop("template", None)
    return with_digits(json.loads(json.dumps(plain, default=_as_list)), DIGITS)


def _as_list(array: Any) -> Any:
    return array.tolist()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.notebooks", description="Run the notebooks and store them.")
    parser.add_argument("slugs", nargs="*", default=list(NOTEBOOKS), metavar="NAME", help="by default all")
    parser.add_argument(
        "--folder", type=Path, default=FOLDER, help="where to store them; by default where the app reads them"
    )
    given = parser.parse_args(arguments)
    for notebook in map(NOTEBOOKS.__getitem__, given.slugs):
        file = given.folder / notebook.file.name
        write_whole(file, nbformat.writes(run(written(notebook))) + "\n")
        print(f"{file}: {file.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()

"""The stored notebooks are the written ones, run: one by the program that stores them, all outside of this program with less work."""

import json
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from pages.parts.notebooks.cells import read_cells
from pages.parts.notebooks.notebook import NOTEBOOKS, Notebook
from tools.notebooks import main, written

# smaller work than in the stored ones, in the words of the source
SMALLER = {
    "fixed-length": {},
    "mean-pooling": {},
    "predict-the-position": {"SEEDS, EPOCHS = 10, 25": "SEEDS, EPOCHS = 1, 25"},
    "first-principles": {
        "longer = [32, 64, 128, 256, 512]": "longer = [32, 64]",
        "seeds = go.Figure(), (1, 2, 3)": "seeds = go.Figure(), (1,)",
        "REVERSE_STEPS = 6, 10, 150": "REVERSE_STEPS = 6, 10, 80",
        '"*/*.md")': '"*/[am]*.md")',
        "STEPS, SCORED = 1000, 600": "STEPS, SCORED = 80, 50",
    },
}
RUN = """
import contextlib, io, json, sys
for name in sys.argv[1:]:
    said, namespace = io.StringIO(), {"__name__": "__main__"}
    with contextlib.redirect_stdout(said):
        for cell in json.load(open(name, encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "code":
                exec(compile("".join(cell["source"]), name + " " + cell["id"], "exec"), namespace)
    print(json.dumps({"name": name, "said": said.getvalue()}))
assert not any(name.partition(".")[0] in ("engine", "pages", "streamlit") for name in sys.modules)
"""


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The output of each notebook, by its slug; all ran in one process that does not know this program."""
    folder = tmp_path_factory.mktemp("notebooks")
    for slug, changes in SMALLER.items():
        text = json.loads(NOTEBOOKS[slug].file.read_text("utf-8"))
        for cell in text["cells"]:
            cell["source"] = _replaced("".join(cell["source"]), changes)
        assert not changes, f"{slug} no longer says {list(changes)}"
        (folder / f"{slug}.ipynb").write_text(json.dumps(text))
    names = [f"{slug}.ipynb" for slug in SMALLER]
    found = subprocess.run([sys.executable, "-I", "-c", RUN, *names], cwd=folder, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr[-3000:]
    rows = [json.loads(line) for line in found.stdout.splitlines()]
    return {one["name"].removesuffix(".ipynb"): one["said"] for one in rows}


def _replaced(source: str, changes: dict[str, str]) -> str:
    for was in [was for was in changes if was in source]:
        source = source.replace(was, changes.pop(was))
    return source


def test_what_the_notebooks_speak_of_comes_out(outputs: dict[str, str]) -> None:
    _speaks_of(outputs)


def _speaks_of(outputs: dict[str, str]) -> None:
    assert "IndexError: index out of range" in outputs["fixed-length"]
    assert "11 words, RuntimeError: The size of tensor a (11) must match" in outputs["fixed-length"]

    pairs = re.findall(r"given (\S+), here (\S+)", outputs["mean-pooling"])
    assert pairs == [("0.0671", "0.0671"), ("0.0436", "0.0436"), ("0.0880", "0.0880"), ("-0.0395", "-0.0395")]

    first, last = map(float, re.findall(r"mean over the \w+ epoch: ([\d.]+)", outputs["predict-the-position"]))
    assert 50 < first < 75
    assert 1 < last < 5

    found = re.search(r"first half ([\d.]+), second half ([\d.]+)", outputs["first-principles"])
    assert abs(float(found[1]) - 0.1) < 0.03
    assert float(found[2]) > 0.99

    curve = [float(value) for value in re.findall(r"step \d+ of \d+: perplexity ([\d.]+)", outputs["first-principles"])]
    assert len(curve) == 10
    assert curve[-1] < curve[0]


@pytest.mark.parametrize("notebook", NOTEBOOKS.values(), ids=lambda notebook: notebook.slug)
def test_the_stored_code_is_the_written_one(notebook: Notebook) -> None:
    stored = nbformat.read(notebook.file, as_version=4)
    code = written(notebook)
    assert [(cell.id, cell.cell_type, cell.source, cell.metadata) for cell in stored.cells] == [
        (cell.id, cell.cell_type, cell.source, cell.metadata) for cell in code.cells
    ], f"python -m tools.notebooks {notebook.slug} stores it anew"
    assert not any(output.output_type == "error" for cell in stored.cells for output in cell.get("outputs", ()))


def test_a_notebook_that_is_run_again_gives_what_is_stored(tmp_path: Path) -> None:
    notebook = NOTEBOOKS["fixed-length"]
    main([notebook.slug, "--folder", str(tmp_path)])
    files = (tmp_path / notebook.file.name, notebook.file)
    again, known = (read_cells(json.loads(file.read_text("utf-8"))) for file in files)
    assert [cell.source for cell in again] == [cell.source for cell in known]
    assert [_without_versions(cell.text) for cell in again] == [_without_versions(cell.text) for cell in known]
    assert sum(len(cell.figures) for cell in again) == sum(len(cell.figures) for cell in known) == 2


def _without_versions(text: str) -> str:
    return re.sub(r"PyTorch \S+", "PyTorch", text)


def test_what_the_stored_notebooks_show_is_what_they_speak_of() -> None:
    printed = {slug: "".join(cell.text for cell in notebook.cells) for slug, notebook in NOTEBOOKS.items()}
    _speaks_of(printed)
    assert len(re.findall(r"step \d+ of 1000: perplexity", printed["first-principles"])) == 10

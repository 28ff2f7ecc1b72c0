"""The steps of CONTRIBUTING are enough: an encoding, a task, an issue and a chart are added to a copy by them alone.

What is added lies in ``additions``, a folder for each section, laid out as in the project.
"""

import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.acceptance.project import Project
from tests.serving import ROOT

pytestmark = pytest.mark.acceptance
ADDITIONS = Path(__file__).parent / "additions"
# the names in a test that walks over a registry, or opens the page with the new panel
REGISTRIES = re.compile(r"\b(ENCODINGS|TASKS|ISSUES)\b|by_length|parts\.cost\b")
WHICH = '    "encoding.which_neighbour",\n'
CONCLUSION = "ALiBi finds the symbol before more often than no encoding does. [which-neighbour/alibi]\n"
IMPORTED = "from pages.parts.charts.cache import cache_figure\n"
BOARD = '    panels(_board_panels(result, plan, view), key="costs.board"'
CACHE = """\
    attending = [kind for kind in plan.kinds if KINDS[kind].attends]
    cache = {KINDS[kind].label: cache_bytes_at(plan.config(kind, plan.ticks[0]), 1) for kind in attending}
    note = "; ".join(f"{label} {in_bytes(size)}" for label, size in cache.items())
    panel = Panel("costs.cache", "Keys and values of one token", cache_figure(cache), note)
    panels([panel], key="costs.cache", name="cache")
"""


@dataclass(frozen=True)
class Addition:
    """The addition of one section of CONTRIBUTING: new files, and lines put after lines of existing files."""

    section: str
    lines: tuple[tuple[str, str, str], ...]
    """The file, the beginning of the line after which it is put, and the new line."""

    @property
    def files(self) -> list[str]:
        folder = ADDITIONS / self.section
        return [str(file.relative_to(folder)) for file in folder.rglob("*.*")]

    def put_into(self, project: Project) -> None:
        for file in self.files:
            (project.folder / file).parent.mkdir(exist_ok=True)
            shutil.copy(ADDITIONS / self.section / file, project.folder / file)
        for file, after, line in self.lines:
            path, line_after = project.folder / file, rf"^{re.escape(after)}.*\n"
            text, found = re.subn(line_after, lambda at, line=line: at[0] + line, path.read_text(), flags=re.M)
            assert found == 1, f"{file} has {found} lines that begin with {after!r}"
            path.write_text(text)

    def take_out_of(self, project: Project) -> None:
        for file in self.files:
            (project.folder / file).unlink()
        for file, _, line in self.lines:
            path = project.folder / file
            path.write_text(path.read_text().replace(line, ""))


COST_BOARD = "pages/parts/cost.py"
# Not the tests that need the evidence of the addition, or the times of all encodings on a quiet machine.
NEEDS_NO_MEASURING = (
    "not has_a_time_that_came and not every_question_has_its_conclusion and not statements_rest_on_measured"
)
ADDED = (
    Addition("encoding", (("engine/encodings/__init__.py", '    "kerple",', '    "sandwich",\n'),)),
    Addition("task", (("engine/tasks/__init__.py", '    "k_back",', '    "neighbour_sum",\n'),)),
    Addition(
        "issue",
        (
            ("engine/experiments/issues/__init__.py", '    "encoding.no_encoding",', WHICH),
            ("engine/experiments/conclusions.md", "With ALiBi, such an encoder", CONCLUSION),
        ),
    ),
    Addition("chart", ((COST_BOARD, "from pages.parts.boards.panels import", IMPORTED), (COST_BOARD, BOARD, CACHE))),
)


def registry_tests() -> list[str]:
    """All but those of the evidence: measuring an addition takes minutes."""
    files = (file for room in ("engine", "pages") for file in sorted((ROOT / "tests" / room).rglob("test_*.py")))
    names = [str(file.relative_to(ROOT)) for file in files if REGISTRIES.search(file.read_text())]
    return [name for name in names if not name.startswith("tests/engine/experiments/evidence/")]


CHECKS = (
    ("ruff", "check", "."),
    ("mypy",),
    ("lint-imports",),
    ("pytest", *registry_tests(), "-q", "-n", "logical", "-p", "no:cacheprovider", "-k", NEEDS_NO_MEASURING),
)


def named(section: str) -> tuple[set[str], set[str]]:
    """The paths that a section of CONTRIBUTING names, as patterns: those with ``<name>``, which are to be written; the others."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    (steps,) = re.findall(rf"^## Add an? {section}\n(.*?)^## ", text, flags=re.M | re.S)
    paths = set(re.findall(r"`((?:engine|pages)/[^`\s]+)`", steps))
    new = {path for path in paths if "<name>" in path}
    return {pattern(path) for path in new}, {pattern(path) for path in paths - new}


def pattern(path: str) -> str:
    """The pattern of a path of the guide: ``<word>`` is any name, a folder is all that is in it."""
    return re.sub(r"<\w+>", r"\\w+", path) + (".*" if path.endswith("/") else "")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return Project(tmp_path_factory.mktemp("project"))


@pytest.fixture(scope="module")
def with_all(project: Project) -> Iterator[Project]:
    for addition in ADDED:
        addition.put_into(project)
    # a step of the guide, without which an encoding has no row in the table of costs
    measured = project.run("python", "-m", "tools.encoding_costs", "sandwich")
    assert measured.returncode == 0, measured.stderr[-5_000:]
    yield project
    for addition in ADDED:
        addition.take_out_of(project)


@pytest.mark.parametrize("addition", ADDED, ids=lambda addition: addition.section)
def test_the_named_files_change_and_taken_out_nothing_is_left(addition: Addition, project: Project) -> None:
    written, edited = named(addition.section)
    addition.put_into(project)
    changed = project.changed()
    addition.take_out_of(project)
    assert project.changed() == {}
    new = {path for path, how in changed.items() if how == "??"}
    for path, how in changed.items():
        named_in = written if how == "??" else edited
        assert any(re.fullmatch(pattern, path) for pattern in named_in), f"CONTRIBUTING does not name {path}"
    for pattern in written:
        assert any(re.fullmatch(pattern, path) for path in new), f"CONTRIBUTING names {pattern}, which is not needed"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check[0])
def test_everything_passes_with_all_of_them(check: tuple[str, ...], with_all: Project, tmp_path: Path) -> None:
    assert "engine/encodings/sandwich/layer.py" in with_all.changed()
    done = with_all.run(*check, ATTENTION_LAB_DATA=str(tmp_path))
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]

"""Each forbidden import, added to the graph, breaks its contract alone."""

import re
from copy import deepcopy
from importlib import import_module

import grimp
import pytest
from importlinter.api import read_configuration
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.independence import IndependenceContract
from importlinter.contracts.layers import LayersContract

from tests.serving import ROOT
from tests.tables import tables_beside

FORBIDDEN = tables_beside(__file__)
CONFIGURATION = read_configuration(str(ROOT / "pyproject.toml"))
CONTRACTS = {options["name"]: options for options in CONFIGURATION["contracts_options"]}
TYPES = {"forbidden": ForbiddenContract, "independence": IndependenceContract, "layers": LayersContract}


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph(
        *CONFIGURATION["session_options"]["root_packages"], include_external_packages=True, cache_dir=None
    )


def broken(graph: grimp.ImportGraph) -> set[str]:
    """The names of the contracts that the imports of ``graph`` break."""
    session = CONFIGURATION["session_options"]
    contracts = [TYPES[options["type"]](name, session, options) for name, options in CONTRACTS.items()]
    return {contract.name for contract in contracts if not contract.check(deepcopy(graph), verbose=False).kept}


def test_every_contract_is_kept(graph: grimp.ImportGraph) -> None:
    """``lint-imports`` says which import breaks it."""
    assert broken(graph) == set()


@pytest.mark.parametrize(
    ("contract", "file", "module"), [(name, *case) for name, cases in FORBIDDEN.items() for case in cases]
)
def test_a_forbidden_import_breaks_its_contract(
    graph: grimp.ImportGraph, contract: str, file: str, module: str
) -> None:
    importer = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    # The graph holds a library as one module.
    imported = module if module in graph.modules else module.split(".")[0]
    assert {importer, imported} <= graph.modules
    added = deepcopy(graph)
    added.add_import(importer=importer, imported=imported)
    assert broken(added) == {contract}


def test_every_contract_is_among_them() -> None:
    assert CONTRACTS.keys() == FORBIDDEN.keys()


def test_every_script_and_part_of_the_pages_is_under_a_contract() -> None:
    scripts = {f"pages.{file.stem}" for file in (ROOT / "pages").glob("*.py")} - {"pages.__init__", "pages.main"}
    parts = {f"pages.parts.{file.parent.name}" for file in (ROOT / "pages/parts").glob("*/__init__.py")}
    parts |= {f"pages.parts.{file.stem}" for file in (ROOT / "pages/parts").glob("*.py")} - {"pages.parts.__init__"}
    modules = CONTRACTS["No page imports another page's script or folder"]["modules"]
    shared = CONTRACTS["Pages: what is shared imports only from what lies below it"]["layers"]
    assert sorted([*modules, *" : ".join(shared).split(" : ")]) == sorted(scripts | parts)


# a string that is the name of a module, or of a module and something in it; not of the encoding that a reader will write
NAMED = re.compile(r'"(engine(?!\.encodings\.my_)(?:\.\w+)+):?(\w*)"')
DOCS = sorted((ROOT / "docs").glob("*.md"))
STRINGS = sorted({found for file in ROOT.glob("[ep]*/**/*.py") for found in NAMED.findall(file.read_text("utf-8"))})


@pytest.mark.parametrize(("module", "name"), STRINGS)
def test_a_module_that_a_string_names_is_there(module: str, name: str) -> None:
    """No contract sees these: by them a page names another process's imports."""
    assert hasattr(import_module(module), name or "__name__")


def test_such_strings_are_found() -> None:
    modules = {module for module, _ in STRINGS}
    assert {"engine.training.train", "engine.model.baselines", "engine.analysis.text.questions"} <= modules


def test_no_test_looks_at_a_private_name() -> None:
    """Attributes are ruff's (SLF001); these are names that are imported, or replaced by their text."""
    private = re.compile(r"import .*\b_[a-z]\w*|setattr\(.*[\"'.]_[a-z]\w*[\"']")
    private_names = {file: private.findall(file.read_text("utf-8")) for file in (ROOT / "tests").rglob("*.py")}
    assert {file: found for file, found in private_names.items() if found} == {}


@pytest.mark.parametrize("file", ["README.md", "CONTRIBUTING.md", *(f"docs/{file.name}" for file in DOCS)])
def test_every_file_that_a_document_names_is_there(file: str) -> None:
    """In backquotes, from the top or from ``engine``, ``pages/parts`` or ``tests``; or as a link, from the document itself."""
    text = (ROOT / file).read_text("utf-8")
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*\.(?:py|md|js|toml|sh|yaml))`", text))
    linked = {found.split("#")[0] for found in re.findall(r"\]\(([^):]+)\)", text)}
    roots = [ROOT, ROOT / "engine", ROOT / "pages" / "parts", ROOT / "tests"]
    missing = [path for path in named if not any((root / path).exists() for root in roots)]
    assert missing + [path for path in linked if not ((ROOT / file).parent / path).exists()] == []

"""The texts of the project by kind, each with its place, for the checks of their words."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
CODE = re.compile(
    r"```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$\n]+\$|<[^>]*>|\]\([^)]*\)|https?://\S+|:material/\w+:|^\|.*$", re.S | re.M
)
"""The parts of a text that are no prose: code, formulas, tags, addresses, tables."""
PROSE = re.compile(r"[A-Za-z]{2,}[^\w]+[A-Za-z]{2,}[^\w]+[A-Za-z]{2,}")
NUMBERED = re.compile(r"\b(e\.g|i\.e|al|vs|Dr|eq|no)\.\s")


class Text(NamedTuple):
    kind: str
    file: str
    line: int
    words: str


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text. An item of a list, a heading and a paragraph end one, too."""
    prose = NUMBERED.sub(r"\1 ", CODE.sub(" x ", text))
    for part in re.split(r"(?<=[.?!:;])[\"”*)_]*\s+|\n\s*\n|\n\s*[-#>]\s|\n\s*\d+\. | · ", prose):
        if part and PROSE.search(part):
            yield " ".join(part.split())


def counted(sentence: str) -> int:
    """Its number of words."""
    return len(re.findall(r"[^\W\d_][\w'’-]*", sentence))


@cache
def texts() -> tuple[Text, ...]:
    """All texts: of the screen, of the documents, and the first lines of docstrings."""
    return tuple(_texts())


def _texts() -> Iterator[Text]:
    for folder in ("pages", "engine"):
        for file in sorted((ROOT / folder).rglob("*.py")):
            yield from _of_python(file, file.relative_to(ROOT).as_posix())
        for file in sorted((ROOT / folder).rglob("*.js")):
            for number, line in enumerate(file.read_text("utf-8").splitlines(), 1):
                for found in re.finditer(r'"([^"\n]*)"|`([^`\n]*)`', line.partition(" // ")[0]):
                    yield from _prose("screen", file, number, re.sub(r"\$\{[^}]*\}", "x", found[1] or found[2] or ""))
        for file in sorted((ROOT / folder).rglob("*.toml")):
            for value in _values(tomllib.loads(file.read_text("utf-8"))):
                yield from _prose("text" if file.name == "glossary.toml" else "screen", file, 1, value)
    for file in sorted((ROOT / "pages").rglob("*.md")):
        yield from _prose("text", file, 1, file.read_text("utf-8"))
    for file in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))):
        yield from _prose("document", file, 1, file.read_text("utf-8"))


def _prose(kind: str, file: Path, line: int, text: str) -> Iterator[Text]:
    if PROSE.search(CODE.sub(" ", text)):
        yield Text(kind, file.relative_to(ROOT).as_posix(), line, text)


def _values(tree: object) -> Iterator[str]:
    if isinstance(tree, str):
        yield tree
    elif isinstance(tree, dict | list):
        for one in tree.values() if isinstance(tree, dict) else tree:
            yield from _values(one)


def _of_python(file: Path, name: str) -> Iterator[Text]:
    tree = ast.parse(file.read_text("utf-8"))
    parts: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            parts.add(id(node.value))
            yield Text("docstring", name, node.lineno, node.value.value.strip().partition("\n")[0])
        elif isinstance(node, ast.JoinedStr):
            parts.update(id(part) for part in ast.walk(node) if part is not node)
    for node in ast.walk(tree):
        if id(node) in parts or not isinstance(node, ast.Constant | ast.JoinedStr):
            continue
        shown = (
            [node.value]
            if isinstance(node, ast.Constant)
            else [part.value if isinstance(part, ast.Constant) else "x" for part in node.values]
        )
        if all(isinstance(part, str) for part in shown):
            yield from _prose("screen", file, node.lineno, "".join(map(str, shown)))

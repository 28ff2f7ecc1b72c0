"""Scripts that import each other, joined to one: a browser asks for one file instead of thirty."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)"\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
REMARK = re.compile(r"^ *(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)
"""A comment that has lines of its own; a browser has no use for it."""


def joined(main: Path) -> str:
    """A script and all that it imports as one module, each after those that it imports.

    The names at the top of all of them differ. An export by default stays one; comments stay behind.
    """
    texts = (file.read_text(encoding="utf-8") for file in in_order(main))
    return "".join(REMARK.sub("", EXPORT.sub("", IMPORT.sub("", text))) for text in texts)


def in_order(main: Path) -> list[Path]:
    """A script and all that it imports, each once and after those that it imports. Raises graphlib.CycleError for a circle."""
    imports: dict[Path, list[Path]] = {}
    found = [main.resolve()]
    while found:
        file = found.pop()
        if file not in imports:
            imports[file] = [
                (file.parent / name).resolve() for name in IMPORT.findall(file.read_text(encoding="utf-8"))
            ]
            found += imports[file]
    return list(TopologicalSorter(imports).static_order())

"""Scripts that import each other, joined into one: a browser loads one file instead of thirty."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

IMPORT = re.compile(r'^import \{[^}]*\} from "([^"]+)"\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?!default)", re.MULTILINE)
REMARK = re.compile(r"^ *(?:/\*\*(?:(?!\*/).)*\*/|//[^\n]*)\n", re.MULTILINE | re.DOTALL)  # a comment on its own lines


def joined(main: Path) -> str:
    """Return a script and all that it imports as one module, each after its imports, without comments.

    Their top-level names must differ. A default export remains one.
    """
    texts = (file.read_text(encoding="utf-8") for file in in_order(main))
    return "".join(REMARK.sub("", EXPORT.sub("", IMPORT.sub("", text))) for text in texts)


def in_order(main: Path) -> list[Path]:
    """Return a script and all that it imports, each once and after its imports. Raises graphlib.CycleError."""
    imports: dict[Path, list[Path]] = {}
    pending = [main.resolve()]
    while pending:
        file = pending.pop()
        if file not in imports:
            imports[file] = [
                (file.parent / name).resolve() for name in IMPORT.findall(file.read_text(encoding="utf-8"))
            ]
            pending += imports[file]
    return list(TopologicalSorter(imports).static_order())

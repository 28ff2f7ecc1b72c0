"""The component that every board is: which scripts and styles it is made of."""

import re
from pathlib import Path

from pages.parts.boards.component import ENTRY, SHELL, in_order, joined
from pages.parts.boards.live.board import LIVE
from pages.parts.boards.panels import FIGURES

TOP_NAME = re.compile(
    r"^(?:export )?(?:async )?(?:const|let|function\*?|class) (?:\{([^}]*)\}|\[([^\]]*)\]|(\w+))", re.MULTILINE
)


def scripts(folder: Path) -> set[Path]:
    return {path.resolve() for path in folder.rglob("*.js")}


def test_every_script_and_style_is_used_and_no_name_at_the_top_is_there_twice() -> None:
    used = set(in_order(ENTRY)) | set(in_order(LIVE.folder / "script" / "band_place.js"))
    for source in (LIVE, FIGURES):
        order = in_order(source.folder / "script" / f"{source.main}.js")
        used |= set(order)
        names = [
            name.strip().partition(":")[0]
            for found in TOP_NAME.findall(joined(source.folder / "script" / f"{source.main}.js"))
            for name in ",".join(found).split(",")
            if name.strip()
        ]
        assert sorted(names) == sorted(set(names))
        assert {path.stem for path in source.folder.glob("*.css")} == {source.name}
    assert scripts(SHELL.parent) == used
    assert {path.stem for path in SHELL.glob("*.css")} == {"shell"}


def test_what_the_page_sends_never_becomes_markup() -> None:
    found = list(SHELL.parent.rglob("*.js"))
    assert len(found) > 10
    for path in found:
        text = path.read_text("utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in text, (path.name, way)

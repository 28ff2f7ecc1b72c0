"""The component that every board is: which scripts and styles it is made of."""

from pathlib import Path

from pages.parts.boards.component import AFTER, BEFORE, ENTRY, SHELL
from pages.parts.boards.live.board import LIVE
from pages.parts.boards.panels import FIGURES


def names(folder: Path, pattern: str) -> set[str]:
    return {path.stem for path in folder.glob(pattern)}


def test_every_script_and_style_is_used_and_one_script_of_a_source_defines_it() -> None:
    assert names(SHELL / "script", "*.js") == {ENTRY, *BEFORE, *AFTER}
    assert names(SHELL, "*.css") == {"shell"}
    for source in (LIVE, FIGURES):
        assert names(source.folder / "script", "*.js") == set(source.scripts)
        assert names(source.folder, "*.css") == {source.name}
        scripts = [(source.folder / "script" / f"{name}.js").read_text("utf-8") for name in source.scripts]
        assert sum(text.count("function sourceOf(board)") for text in scripts) == 1


def test_what_the_page_sends_never_becomes_markup() -> None:
    scripts = list(SHELL.parent.rglob("*.js"))
    assert len(scripts) > 10
    for path in scripts:
        text = path.read_text("utf-8")
        for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
            assert way not in text, (path.name, way)

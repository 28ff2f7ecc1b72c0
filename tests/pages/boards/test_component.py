import pytest

from pages.parts.boards.live.board import LIVE
from pages.parts.boards.panels import FIGURES


@pytest.mark.parametrize("source", [LIVE, FIGURES], ids=["live", "figures"])
def test_the_module_of_a_board_imports_nothing_and_exports_draw_alone(source: object) -> None:
    lines = source.plain.decode().splitlines()  # type: ignore[attr-defined]
    assert [line for line in lines if line.startswith(("import ", "export "))] == ["export { draw }"]

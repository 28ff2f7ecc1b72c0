"""Cell after cell in one namespace: what is said of it, and where it ends."""

from typing import Any

import plotly.graph_objects as go

from engine.notebooks.cells import Cell
from engine.notebooks.play import play


def played(*sources: str, until: tuple[int, ...] = (99,)) -> list[dict[str, Any]]:
    told, asked = list[dict[str, Any]](), [*until]
    cells = [Cell(number, "code", source) for number, source in enumerate(sources)]
    play(cells, lambda: asked.pop(0) if asked else None, told.append)
    return [{name: value for name, value in message.items() if name != "seconds"} for message in told]


def events(told: list[dict[str, Any]]) -> list[tuple[Any, str]]:
    return [(message.get("cell"), message["event"]) for message in told]


def test_a_cell_sees_what_the_ones_before_it_made_as_far_as_it_is_told_and_its_last_expression_is_shown() -> None:
    told = played("x = 2", "print(3 * x)")
    assert {"cell": 1, "event": "text", "text": "6\n"} in told
    assert events(told)[-2:] == [(1, "passed"), (None, "waiting")]

    told = played("1 + 1\n40 + 2", "y = 5", "None")
    assert [message["text"] for message in told if message["event"] == "text"] == ["42\n"]

    told = played("a = 1", "a += 1", "print(a)", until=(0, 2))
    assert events(told)[:3] == [(0, "started"), (0, "passed"), (None, "waiting")]
    assert "2\n" in [message.get("text") for message in told]


def test_an_error_is_told_by_its_line_after_what_was_printed_and_ends_it() -> None:
    told = played("x = 1", "y = x\nassert y == 2", "print('never')")
    assert told[-1] == {"cell": 1, "event": "failed", "error": "AssertionError: assert y == 2", "line": 2}

    told = played("print('before', end='')\n1 / 0")
    assert [message["event"] for message in told] == ["started", "text", "failed"]
    assert told[-1]["error"] == "ZeroDivisionError: division by zero"

    told = played("def f():\n    raise KeyError('gone')", "x = 1\n\nf()")
    assert (told[-1]["error"], told[-1]["line"]) == ("KeyError: 'gone'", 3)


def test_a_figure_is_told_as_plain_data() -> None:
    source = "import plotly.graph_objects as go, numpy as np\ngo.Figure(go.Scatter(x=np.arange(3), y=[0.5, 1, 2]))"
    (told,) = [message["figure"] for message in played(source) if message["event"] == "figure"]
    assert told["data"][0]["x"] == [0, 1, 2]
    assert "template" not in told["layout"]
    assert go.Figure(told).data[0].y == (0.5, 1, 2)

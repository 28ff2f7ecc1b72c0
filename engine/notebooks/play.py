"""``python -m engine.notebooks.play <slug>``: run a notebook's cells, one after another, in one namespace.

Standard input holds messages (:mod:`engine.foundation.messages`), the numbers of the cells to run up to; its end ends the process,
whatever it is doing. Standard output reports events, a message each:

    {"cell": 3, "event": "started"}
    {"cell": 3, "event": "text", "text": "loss 0.02\\n"}
    {"cell": 3, "event": "figure", "figure": {"data": [...], "layout": {...}}}
    {"cell": 3, "event": "passed", "seconds": 0.41}
    {"cell": 3, "event": "failed", "seconds": 0.41, "error": "AssertionError: ...", "line": 2}
    {"event": "waiting", "until": 5}

Only cells of registered notebooks are run; nothing else can be sent.
"""

import argparse
import ast
import io
import json
import linecache
import os
import signal
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from functools import partial
from queue import SimpleQueue
from typing import Any

from engine.foundation.messages import listen, receive, send, take_over_pipes
from engine.foundation.priority import NOTEBOOK, give_way
from engine.notebooks import NOTEBOOKS
from engine.notebooks.cells import Cell
from engine.text.plays import ARCHIVE

Say = Callable[[dict[str, Any]], None]


class Lines(io.TextIOBase):
    """A text stream that passes on whole lines."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell, self._rest = tell, ""

    def write(self, text: str) -> int:
        whole, end, self._rest = (self._rest + text).rpartition("\n")
        if end:
            self._tell(whole + end)
        return len(text)

    def finish(self) -> None:
        if self._rest:
            self._tell(self._rest)
            self._rest = ""


def play(cells: Sequence[Cell], until: Callable[[], int | None], say: Say) -> None:
    """Run the cells of code in order, each time up to the number that ``until`` gives; None ends it, a failure too."""
    namespace: dict[str, Any] = {"__name__": "__main__"}
    code = [cell for cell in cells if cell.kind == "code"]
    done = 0
    while (last := until()) is not None:
        while done < len(code) and code[done].number <= last:
            if not run_cell(code[done], namespace, say):
                return
            done += 1
        say({"event": "waiting", "until": last})


def run_cell(cell: Cell, namespace: dict[str, Any], say: Say) -> bool:
    """Run one cell and report what it prints, its figures and its result; returns whether it passed."""

    def tell(event: str, **more: Any) -> None:
        say({"cell": cell.number, "event": event, **more})

    tell("started")
    began = time.perf_counter()
    output = Lines(lambda text: tell("text", text=text))
    try:
        with redirect_stdout(output):
            value = _execute(cell, namespace)
            if hasattr(value, "to_plotly_json"):
                tell("figure", figure=_plain(value))
            elif value is not None:
                print(value)
        output.finish()
    except Exception as error:
        output.finish()
        tell("failed", seconds=time.perf_counter() - began, error=_sentence(error, cell), line=_line(error, cell))
        return False
    tell("passed", seconds=time.perf_counter() - began)
    return True


def _execute(cell: Cell, namespace: dict[str, Any]) -> Any:
    """Run the cell; returns the value of its last line where that is an expression, as in Jupyter."""
    name = _name(cell)
    linecache.cache[name] = (len(cell.source), None, cell.source.splitlines(True), name)
    tree = ast.parse(cell.source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), namespace)
    return eval(compile(ast.Expression(last.value), name, "eval"), namespace) if isinstance(last, ast.Expr) else None


def _plain(figure: Any) -> dict[str, Any]:
    """A Plotly figure as plain data and layout, without its template."""
    # Part by part: the figure as a whole packs arrays as base64, which the app does not read.
    plain = {"data": [trace.to_plotly_json() for trace in figure.data], "layout": figure.layout.to_plotly_json()}
    plain["layout"].pop("template", None)
    found: dict[str, Any] = json.loads(json.dumps(plain, default=lambda array: array.tolist()))
    return found


def _sentence(error: Exception, cell: Cell) -> str:
    what = str(error).strip() or linecache.getline(_name(cell), _line(error, cell) or 0).strip()
    return f"{type(error).__name__}: {what}"


def _line(error: Exception, cell: Cell) -> int | None:
    """The line of the cell from which the error came, from 1."""
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == _name(cell)), None)


def _name(cell: Cell) -> str:
    return f"<cell {cell.number}>"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m engine.notebooks.play", description="Run a notebook's cells.")
    parser.add_argument("slug", choices=NOTEBOOKS)
    notebook = NOTEBOOKS[parser.parse_args().slug]
    inward, outward = take_over_pipes()  # output of libraries must not mix with the events
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, whose end closes stdin
    give_way(NOTEBOOK)
    os.environ["SHAKESPEARE"] = str(ARCHIVE)  # a notebook that runs elsewhere finds the plays beside itself
    asked: SimpleQueue[int] = SimpleQueue()
    listen(inward, receive, asked.put)
    play(notebook.cells, asked.get, partial(send, outward))


if __name__ == "__main__":
    main()

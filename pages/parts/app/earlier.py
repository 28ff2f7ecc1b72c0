"""Addresses of earlier versions: saved links lead to the page that shows the same thing today."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from engine.config.link import VERSION, without_marks
from engine.experiments.issues import COSTS
from pages.parts.app.page_state import CARRIED, NAMES
from pages.parts.app.server import find

Query = dict[str, str]


def same(query: Query) -> Query:
    return query


def words(query: Query) -> Query:
    # A run on this server has its own settings.
    usual = {} if find(query.get("run", "")) else {"preset": "next-word"}
    return {"v": VERSION, **usual, **query}


class Moved(NamedTuple):
    file: str  # in ``pages/``
    query: Callable[[Query], Query] = same  # converts the query of an earlier link


def apart(query: Query) -> Query:
    # Without the controls that a link could hide there: these no longer exist.
    old = {name: text for name, text in without_marks(query).items() if name not in NAMES}
    if old.get("query", "").isdecimal():  # the earlier name of the position, which counted from 0
        old["position"] = str(int(old.pop("query")) + 1)
    view = old.pop("view", "steps")
    return {"apart": view} | {name if name in ("run", *CARRIED) else f"apart.{name}": old[name] for name in old}


def designed(query: Query) -> Query:
    """Convert a design to encoding A of the two that are compared; its parts are that side's."""

    def part(name: str) -> str:
        return f"a.{name}" if name.startswith("design_") else name

    controls = {name: ",".join(map(part, query[name].split(","))) for name in ("show", "hide", "lock") if name in query}
    return {"a": "designed"} | {part(name): text for name, text in query.items()} | controls


def _six_steps(query: Query) -> Query:
    return {"step": "1"} | {name: query[name] for name in ("step", "choice", "seed", "run") if name in query}


EARLIER: Mapping[str, Moved] = {
    "attention": Moved("lab.py", apart),
    "issues": Moved("questions.py"),
    "answer": Moved("questions.py", lambda query: query | {"found": "true"}),
    "design": Moved("encodings.py", designed),
    "lessons": Moved("teach.py"),
    "memory-and-time": Moved("cost.py"),
    "notebook": Moved("notebooks.py"),
    "story": Moved("start.py", _six_steps),
    "text": Moved("lab.py", words),
    "glossary": Moved("start.py", lambda query: {"term": query.get("term", "")}),
}


def moved(address: str, query: Query) -> Moved | None:
    """Return the page of an earlier address; None for a current one."""
    if address == "issues" and query.get("issue") in COSTS:  # earlier issues that the page Cost replaces
        return Moved("cost.py", lambda query: {})
    return EARLIER.get(address)

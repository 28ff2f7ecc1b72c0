"""Addresses of earlier versions: saved links lead to the page that shows the same thing today."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from engine.config.link import VERSION, without_marks
from engine.experiments.issues import COSTS
from pages.parts.app.page_state import LESSON_PARAMETERS, NAMES
from pages.parts.app.server import find

Query = dict[str, str]


def keep_query(query: Query) -> Query:
    return query


def words(query: Query) -> Query:
    # A run on this server has its own settings.
    usual = {} if find(query.get("run", "")) else {"preset": "next-word"}
    return {"v": VERSION, **usual, **query}


class Redirect(NamedTuple):
    file: str  # in ``pages/``
    query: Callable[[Query], Query] = keep_query  # converts the query of an earlier link


def apart(query: Query) -> Query:
    # Without the controls that a link could hide there: these no longer exist.
    old = {name: text for name, text in without_marks(query).items() if name not in NAMES}
    if old.get("query", "").isdecimal():  # the earlier name of the position, which counted from 0
        old["position"] = str(int(old.pop("query")) + 1)
    view = old.pop("view", "steps")
    return {"apart": view} | {
        name if name in ("run", *LESSON_PARAMETERS) else f"apart.{name}": old[name] for name in old
    }


def designed(query: Query) -> Query:
    """Convert a design to encoding A of the two that are compared; its parts are that side's."""

    def part(name: str) -> str:
        return f"a.{name}" if name.startswith("design_") else name

    controls = {name: ",".join(map(part, query[name].split(","))) for name in ("show", "hide", "lock") if name in query}
    return {"a": "designed"} | {part(name): text for name, text in query.items()} | controls


def _six_steps(query: Query) -> Query:
    return {"step": "1"} | {name: query[name] for name in ("step", "choice", "seed", "run") if name in query}


EARLIER: Mapping[str, Redirect] = {
    "attention": Redirect("lab.py", apart),
    "issues": Redirect("questions.py"),
    "answer": Redirect("questions.py", lambda query: query | {"found": "true"}),
    "design": Redirect("encodings.py", designed),
    "lessons": Redirect("teach.py"),
    "memory-and-time": Redirect("cost.py"),
    "notebook": Redirect("notebooks.py"),
    "story": Redirect("start.py", _six_steps),
    "text": Redirect("lab.py", words),
    "glossary": Redirect("start.py", lambda query: {"term": query.get("term", "")}),
}


def redirect(address: str, query: Query) -> Redirect | None:
    """Return the page of an earlier address; None for a current one."""
    if address == "issues" and query.get("issue") in COSTS:  # earlier issues that the page Cost replaces
        return Redirect("cost.py", lambda query: {})
    return EARLIER.get(address)

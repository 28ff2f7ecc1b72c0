"""Addresses of earlier versions: saved links lead on to the page that shows today what they showed."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

Query = dict[str, str]


def same(query: Query) -> Query:
    return query


class Moved(NamedTuple):
    file: str
    """The page's file in ``pages/``."""
    query: Callable[[Query], Query] = same
    """What becomes of a link's query."""


def _six_steps(query: Query) -> Query:
    """The step of a link, with its choice, seed and run."""
    return {"step": "1"} | {name: query[name] for name in ("step", "choice", "seed", "run") if name in query}


EARLIER: Mapping[str, Moved] = {
    "issues": Moved("issues.py"),
    "lessons": Moved("teach.py"),
    "memory-and-time": Moved("memory_and_time.py"),
    "notebook": Moved("notebooks.py"),
    "story": Moved("start.py", _six_steps),
    "glossary": Moved("start.py", lambda query: {"term": query.get("term", "")}),
}

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


EARLIER: Mapping[str, Moved] = {
    "issues": Moved("questions.py"),
    "answer": Moved("questions.py", lambda query: query | {"found": "true"}),
    "lessons": Moved("teach.py"),
    "memory-and-time": Moved("memory_and_time.py"),
    "notebook": Moved("notebooks.py"),
    "glossary": Moved("start.py", lambda query: {"term": query.get("term", "")}),
}

"""The places of the bar and the views of each: the one table from which navigation and tabs are made."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath


@dataclass(frozen=True)
class View:
    """One page of a place."""

    title: str
    """Its name on the tab."""
    file: str
    """The page's file in ``pages/``; links name it."""

    @property
    def address(self) -> str:
        return PurePath(self.file).stem.replace("_", "-")


@dataclass(frozen=True)
class Place:
    """An entry of the bar, which leads to the first of its views."""

    title: str
    icon: str
    views: tuple[View, ...]


PLACES = (
    Place("Start", ":material/home:", (View("Start", "start.py"), View("Reverse in six steps", "story.py"))),
    Place(
        "Lab",
        ":material/science:",
        (View("Train", "lab.py"), View("Attention", "attention.py"), View("Text", "text.py")),
    ),
    Place(
        "What goes wrong",
        ":material/bug_report:",
        (
            View("Issues", "issues.py"),
            View("The answer", "answer.py"),
            View("Lessons", "lessons.py"),
            View("Memory and time", "memory_and_time.py"),
        ),
    ),
    Place("Encodings", ":material/pin_drop:", (View("Compare", "encodings.py"), View("Design", "design.py"))),
    Place(
        "Notebooks",
        ":material/code_blocks:",
        (View("All notebooks", "notebooks.py"), View("One notebook", "notebook.py")),
    ),
)
FIRST = PLACES[0].views[0]
"""The page that the bare address opens; links to it have an empty address."""
GLOSSARY = View("Glossary", "glossary.py")
"""Reached from every page, and so in no place."""


def place_of(address: str) -> Place | None:
    """The place with the view of that address; None for the glossary. The first page's address is empty."""
    views = {view.address: place for place in PLACES for view in place.views}
    return views.get(address) if address else PLACES[0]

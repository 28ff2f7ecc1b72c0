"""The address of the attention page: a link's choices, checked, and the choices as a link."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from engine.analysis.attention_faults import FAULTS
from engine.settings.errors import Problem
from engine.settings.fields import whole_number
from pages.parts.app.address import take_link, write_link
from pages.parts.app.server import find
from pages.parts.attention.chosen import KINDS, RECORDED, TEMPERATURES, VIEWS, Chosen, choose, chosen

LONGEST_TEXT = 2000


def _number(low: int, high: int) -> Callable[[str], Any]:
    def read(text: str) -> int:
        if (number := whole_number(text, low, high)) is None:
            raise ValueError(f"a whole number from {low} to {high}")
        return number

    return read


def _one_of(names: Mapping[Any, object]) -> Callable[[str], Any]:
    def read(text: str) -> str:
        if text not in names:
            raise ValueError("one of " + ", ".join(names))
        return text

    return read


def _run(text: str) -> str:
    if text != RECORDED and find(text) is None:
        raise ValueError(f"the id of a run that is kept here, or {RECORDED}")
    return text


def _text(text: str) -> str:
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"at most {LONGEST_TEXT} characters")
    return text


def _temperature(text: str) -> float:
    names = {f"{value:g}": value for value in TEMPERATURES}
    return names[_one_of(names)(text)]


def _heads(text: str) -> tuple[str, ...]:
    heads = tuple(text.split(","))
    for head in heads:
        kind, *numbers = head.split(".")
        if kind not in KINDS or len(numbers) != 2 or any(whole_number(n, 0, 999) is None for n in numbers):
            raise ValueError("heads as self.1.2 (kind, layer, head), separated by commas")
    return heads


def _faults(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    for name in names:
        if name not in FAULTS:
            raise ValueError("some of " + ", ".join(FAULTS) + ", separated by commas")
    return names


READERS: dict[str, Callable[[str], Any]] = {
    "run": _run,
    "view": _one_of(VIEWS),
    "which": _one_of(KINDS),
    "layer": _number(1, 48),
    "head": _number(1, 64),
    "query": _number(0, 4096),
    "sample": _number(0, 255),
    "text": _text,
    "step": _number(0, 1_000_000),
    "before": _number(0, 1_000_000),
    "after": _number(0, 1_000_000),
    "temperature": _temperature,
    "off": _heads,
    "faults": _faults,
}


def read(query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
    """The choices that a query makes, and what in it was ignored."""
    choices: dict[str, Any] = {}
    ignored: list[Problem] = []
    for name, text in query.items():
        if name not in READERS:
            ignored.append(Problem(name, text, "a name this page knows"))
            continue
        try:
            choices[name] = READERS[name](text)
        except ValueError as allowed:
            ignored.append(Problem(name, text, str(allowed)))
    return choices, ignored


def open_address() -> list[Problem]:
    """Take a link at its word once; from then on the page decides. Returns what was ignored."""
    choices, ignored = read(take_link("attention") or {})
    choose(**choices)
    return ignored


def write_address(run: str) -> None:
    """Keep the address a link to what is on the page: its run, and what is not as by default."""
    now, usual = replace(chosen(), run=run), Chosen(run=RECORDED)
    query = {
        field.name: _as_text(getattr(now, field.name))
        for field in fields(Chosen)
        if getattr(now, field.name) != getattr(usual, field.name)
    }
    write_link("attention", query)


def _as_text(value: object) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value:g}" if isinstance(value, float) else str(value)

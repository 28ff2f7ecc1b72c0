"""Settings read from text, as a link or a command line gives them; errors about them, each in one sentence: the setting, the given value,
the allowed values."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from engine.foundation.errors import Explained
from engine.settings.fields import Parameters, Setting, from_text, settings_in, to_text

M = TypeVar("M", bound=Parameters)

LONGEST_SHOWN = 80
"""The most characters of a given text that a sentence repeats."""
VISIBLE = {"\n": "↵", "\t": "⇥"}


def shown(given: str) -> str:
    """A given text for use in a sentence: on one line, shortened, with a visible sign for each invisible character."""
    line = "".join(sign if sign.isprintable() else VISIBLE.get(sign, "�") for sign in given[: LONGEST_SHOWN + 1])
    if not line.strip():
        return "empty"
    return line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 1]}…"


def quoted(given: str) -> str:
    """A given text in quotation marks, for a sentence that names no setting. No character in it can end the quotation."""
    inside = given.replace("“", '"').replace("”", '"')
    return f"“{shown(inside)}”"


@dataclass(frozen=True)
class Problem:
    setting: str
    given: str
    allowed: str

    def __str__(self) -> str:
        return f"{shown(self.setting)} is {shown(self.given)}; allowed is {self.allowed}."


class ConfigError(Explained, ValueError):
    """One or more settings are not allowed; nothing was changed."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__(" ".join(str(problem) for problem in self.problems))


def problems_in(error: ValidationError, flat: Mapping[str, object], rows: Sequence[Setting]) -> Iterator[Problem]:
    """The problems that a validation found, at most one for each setting."""
    by_name = {row.name: row for row in rows}
    seen = set[str]()
    for item in error.errors(include_url=False):
        context = item.get("ctx") or {}
        name = str(context.get("setting") or item["loc"][0])
        if name in seen:
            continue
        seen.add(name)
        given = context.get("given", flat.get(name, item["input"]))
        if name not in by_name:
            yield Problem(name, to_text(given), "no setting of that name (for this task and encoding)")
        elif item["type"] in ("rule", "choice"):
            yield Problem(name, to_text(given), item["msg"])
        else:
            yield Problem(name, to_text(given), by_name[name].allowed)


def checked(model: type[M], flat: Mapping[str, object]) -> M:
    """A table of settings from flat names to values, which may be text. Raises ConfigError."""
    try:
        return model.model_validate(from_text(dict(flat), model))
    except ValidationError as error:
        rows = list(settings_in(model))
        listed = {
            str(item["loc"][0]): item["msg"] for item in error.errors() if item["loc"] and item["type"] == "choice"
        }
        raise ConfigError(
            [
                Problem(problem.setting, problem.given, listed.get(problem.setting, problem.allowed))
                for problem in problems_in(error, flat, rows)
            ]
        ) from None


def leniently(flat: Mapping[str, object], read: Callable[[Mapping[str, object]], M]) -> tuple[M, list[Problem]]:
    """The settings with every value that fits, and one problem for each value that does not: that setting keeps its default."""
    kept, ignored = dict(flat), list[Problem]()
    while True:
        try:
            return read(kept), ignored
        except ConfigError as error:
            for problem in error.problems:
                culprit = problem if problem.setting in kept else _culprit(kept, problem, read)
                ignored.append(culprit)
                del kept[culprit.setting]


def _culprit(given: dict[str, object], problem: Problem, read: Callable[[Mapping[str, object]], M]) -> Problem:
    """The given setting that conflicts with a default: the last one without which the settings fit, else the first."""
    for name in reversed(given):
        try:
            read({other: value for other, value in given.items() if other != name})
            break
        except ConfigError:
            continue
    return Problem(name, to_text(given[name]), f"one that goes with {problem.setting} {shown(problem.given)}")

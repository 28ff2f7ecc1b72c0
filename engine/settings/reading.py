"""A table of settings read from text, as a link or a command line gives it: strictly, or leaving out what does not fit."""

from collections.abc import Callable, Mapping
from typing import TypeVar

from pydantic import ValidationError

from engine.settings.errors import ConfigError, Problem, problems_in, shown
from engine.settings.fields import Parameters, from_text, settings_in, to_text

M = TypeVar("M", bound=Parameters)


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

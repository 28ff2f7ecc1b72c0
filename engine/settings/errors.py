"""Settings read from text, as a link or a command line gives them, and errors about them, each in one sentence."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from engine.foundation.errors import Explained
from engine.settings.fields import Parameters, Setting, from_text, settings_in, to_text
from engine.settings.names import did_you_mean

M = TypeVar("M", bound=Parameters)

MAX_SHOWN_CHARACTERS = 80  # characters of a given text that a sentence repeats
VISIBLE = {"\n": "↵", "\t": "⇥"}


def excerpt(text: str) -> str:
    """The text on one line, shortened, with a visible sign for each invisible character."""
    line = "".join(sign if sign.isprintable() else VISIBLE.get(sign, "�") for sign in text[: MAX_SHOWN_CHARACTERS + 1])
    if not line.strip():
        return "empty"
    return line if len(line) <= MAX_SHOWN_CHARACTERS else f"{line[: MAX_SHOWN_CHARACTERS - 1]}…"


def quoted(text: str) -> str:
    # else a character in it could end the quotation
    inside = text.replace("“", '"').replace("”", '"')
    return f"“{excerpt(inside)}”"


@dataclass(frozen=True)
class Problem:
    setting: str
    value: str
    allowed: str  # in words; empty if there is no such setting
    hint: str = ""
    """A further sentence, in the app's words: what was probably meant, or what else can help."""

    def __str__(self) -> str:
        return self.sentence(excerpt, str)

    def sentence(self, as_given: Callable[[str], str], as_words: Callable[[str], str]) -> str:
        message = f"{as_given(self.setting)} is not a setting here."
        if self.allowed:
            message = f"{as_given(self.setting)} is {as_given(self.value)}; it must be {as_words(self.allowed)}."
        return f"{message} {as_words(self.hint)}" if self.hint else message


def not_one_of(setting: str, given: str, known: Collection[str], other: str = "") -> Problem:
    """``other``: what else is allowed."""
    return Problem(setting, given, f"one of {', '.join(known)}{other}", did_you_mean(given, known))


def no_setting(name: str, given: str, known: Collection[str], hint: str = "") -> Problem:
    return Problem(name, given, "", hint or did_you_mean(name, known))


class ConfigError(Explained, ValueError):
    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = list(problems)
        super().__init__(" ".join(str(problem) for problem in self.problems))


def problems_in(
    error: ValidationError,
    flat: Mapping[str, object],
    rows: Sequence[Setting],
    elsewhere: Callable[[str], str] = lambda name: "",
) -> Iterator[Problem]:
    """The problems, at most one per setting. ``elsewhere``: a sentence on where a name belongs that is not among ``rows``."""
    by_name = {row.name: row for row in rows}
    names = set[str]()
    for item in error.errors(include_url=False):
        context = item.get("ctx") or {}
        name = str(context.get("setting") or item["loc"][0])
        if name in names:
            continue
        names.add(name)
        value = context.get("value", flat.get(name, item["input"]))
        known, text = context.get("known") or (by_name[name].choices if name in by_name else ()), to_text(value)
        # "choice" and "rule" are errors of this project's validators: their message is the allowed values in words
        if item["type"] == "choice":
            yield Problem(name, text, item["msg"], did_you_mean(text, known))
        elif item["type"] == "rule" and name in by_name:
            yield Problem(name, text, item["msg"])
        elif name in by_name:
            yield Problem(name, text, by_name[name].allowed, did_you_mean(text, known))
        else:
            yield no_setting(name, text, by_name, elsewhere(name))


def validate(model: type[M], flat: Mapping[str, object]) -> M:
    """Read flat names and values, which may be text. Raises ConfigError."""
    try:
        return model.model_validate(from_text(dict(flat), model))
    except ValidationError as error:
        raise ConfigError(list(problems_in(error, flat, list(settings_in(model))))) from None


def read_leniently(flat: Mapping[str, object], read: Callable[[Mapping[str, object]], M]) -> tuple[M, list[Problem]]:
    """Read the values that fit, and return a problem for each other setting, which keeps its default."""
    accepted, ignored = dict(flat), list[Problem]()
    while True:
        try:
            return read(accepted), ignored
        except ConfigError as error:
            for problem in error.problems:
                culprit = problem if problem.setting in accepted else _culprit(accepted, problem, read)
                ignored.append(culprit)
                del accepted[culprit.setting]


def _culprit(given: dict[str, object], problem: Problem, read: Callable[[Mapping[str, object]], M]) -> Problem:
    """The given setting that conflicts with a default: the last one without which the settings fit, else the first."""
    for name in reversed(given):
        try:
            read({other: value for other, value in given.items() if other != name})
            break
        except ConfigError:
            continue
    allowed = f"one that goes with {problem.setting} {excerpt(problem.value)}"
    return Problem(name, to_text(given[name]), allowed, f"Otherwise {problem.setting} must be {problem.allowed}.")

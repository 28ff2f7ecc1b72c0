"""What is set on the lessons page: the steps of the lesson that a teacher puts together. The link holds them all."""

from __future__ import annotations

from dataclasses import replace

from engine.experiments.lessons import Lesson, Step, from_code, to_code
from engine.settings.errors import ConfigError
from pages.parts.app.page_state import ModelSettings, PageState

STEPS = "steps"


class LessonsState(PageState):
    steps: str | None = None


def _check(state: LessonsState) -> None:
    """Raises ConfigError where the link holds no lesson."""
    if state.steps is not None:
        try:
            from_code(state.steps)
        except ConfigError as error:
            raise ConfigError([replace(problem, setting=STEPS) for problem in error.problems]) from None


SETTINGS = ModelSettings("lessons", LessonsState, _check)


def own_steps() -> tuple[Step, ...]:
    """The steps of the teacher's own lesson so far."""
    code = SETTINGS.values()[STEPS]
    return from_code(code).steps if code else ()


def keep(steps: tuple[Step, ...]) -> None:
    SETTINGS.put({STEPS: to_code(Lesson("", steps)) if steps else None})

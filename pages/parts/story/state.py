"""What is set on the story's page: the step, the value of its setting, the seed; and what this tab has tried at each step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import streamlit as st
from pydantic import field_validator

from engine.config.run_config import RunConfig
from engine.experiments.question import Direction
from engine.experiments.story import STEPS
from engine.experiments.story.steps import StoryStep
from engine.runs.run import Run
from engine.settings.errors import ConfigError, Problem, not_one_of
from engine.settings.fields import Value, setting, to_text
from pages.parts.app.frame import SCREEN
from pages.parts.app.page_state import ModelSettings, PageState
from pages.parts.app.server import find
from pages.parts.stage.question import Guess, guess_of, keep_guess

CHOICE, RUN, SEED, STEP = "choice", "run", "seed", "step"
GUESS, GUESSED = "guess", "guessed"
TRIES = "story.tries"
"""Session key: what was tried at each step, by its number. The lab's shown run is another one."""
EARLIER_ANSWERS: dict[str, Direction] = {
    "chance": -1, "none": -1, "mirrored": -1, "never": -1, "not always": 0, "some": 0, "part": 0, "first": 0, "one distance": 0, "late": 0,
    "always": 1, "nearly all": 1, "every": 1, "later": 1, "spread": 1, "early": 1,
}  # fmt: skip
"""The answers by their names in earlier links."""


class StoryState(PageState):
    step: int = setting(1, label="Step", help="Which step of the story.", ge=1, le=len(STEPS))
    choice: str | None = None
    """The value of the step's setting, as text; None: the one it has at first."""
    seed: int = setting(0, label="Seed", help="Decides first weights and data.", ge=0, le=10_000)
    run: str | None = None
    guess: int | None = setting(None, label="Guess", help="The answer that is chosen now.", ge=-1, le=1)
    guessed: int | None = setting(None, label="Guessed", help="The answer that was chosen before the run.", ge=-1, le=1)

    @field_validator(GUESS, GUESSED, mode="before")
    @classmethod
    def _by_number(cls, given: object) -> object:
        return EARLIER_ANSWERS.get(given, given) if isinstance(given, str) else given

    def check(self) -> None:
        """The choice is one of the step's; the run is one of the step's, and kept here."""
        step = STEPS[self.step - 1]
        if self.choice is not None and self.choice not in step.choices:
            raise ConfigError([not_one_of(CHOICE, self.choice, step.choices)])
        if self.run is not None and ((run := find(self.run)) is None or not belongs(run.config, step)):
            raise ConfigError([Problem(RUN, self.run, f"a run of step {self.step} that is kept here")])


@dataclass(frozen=True)
class Try:
    """A run of a step, with the guess that was made before it."""

    run_id: str
    guess: Direction | None = None


def belongs(config: RunConfig, step: StoryStep) -> bool:
    """Whether a config is one of a step's, at any seed."""
    value = config.flat().get(step.setting)
    return value in step.values and config == step.config(value, config.seed)


class StorySettings(ModelSettings[StoryState]):
    """A link that names a run brings its choice and its seed along, and the guess that was made before it."""

    def open_address(self) -> tuple[dict[str, str], list[Problem]]:
        link, ignored = super().open_address()
        values = self.values()
        if values[RUN] is not None:
            remember(values[STEP], Try(values[RUN], values[GUESSED]))
        if values[GUESS] is not None:
            put_guess(values[STEP], values[GUESS])
        if link and CHOICE not in link:
            self.put(latest_settings(values[STEP]) | ({SEED: values[SEED]} if SEED in link else {}))
        self.put({RUN: None, GUESS: None, GUESSED: None})  # they stand with the step
        return link, ignored

    def query(self, *others: Mapping[str, Any]) -> dict[str, str]:
        number: int = self.values()[STEP]
        run, guessed = run_of_step(number), [one.guess for one in tries(number)[-1:]]
        own = {GUESS: guess(number), RUN: run.id if run else None, GUESSED: guessed[0] if run else None}
        return super().query(*others) | {name: to_text(value) for name, value in own.items() if value is not None}


SETTINGS = StorySettings("story", StoryState)


def present() -> tuple[int, StoryStep]:
    """The number of the present step, from 1, and the step."""
    number: int = SETTINGS.values()[STEP]
    return number, STEPS[number - 1]


def chosen(step: StoryStep) -> Value:
    """The value that the step's setting has now."""
    text = SETTINGS.values()[CHOICE]
    return step.first if text is None else step.choices[text]


def go_to_step(number: int) -> None:
    """Open a step as it was left."""
    SETTINGS.put({STEP: number, **latest_settings(number)})
    st.session_state[SCREEN] = f"story {number}"


def latest_settings(number: int) -> dict[str, Any]:
    """The choice and the seed of the latest try of a step."""
    run, step = run_of_step(number), STEPS[number - 1]
    if run is None:
        return {CHOICE: None, SEED: 0}
    return {CHOICE: to_text(run.config.flat()[step.setting]), SEED: run.config.seed}


def tries(number: int) -> list[Try]:
    """What was tried at a step, the latest last."""
    return cast(list[Try], st.session_state.get(TRIES, {}).get(number, []))


def remember(number: int, tried: Try) -> None:
    """Show this run at a step from now on. The guess of a run that is known already stays."""
    known = next((one for one in tries(number) if one.run_id == tried.run_id), tried)
    others = [one for one in tries(number) if one.run_id != tried.run_id]
    st.session_state.setdefault(TRIES, {})[number] = [*others, known]


def run_of_step(number: int) -> Run | None:
    """The run of the latest try of a step, if it is kept here."""
    tried = tries(number)
    return find(tried[-1].run_id) if tried else None


def guess(number: int) -> Direction | None:
    """The answer that is chosen now."""
    return guess_of(f"story.{number}").answer


def put_guess(number: int, answer: Direction) -> None:
    keep_guess(f"story.{number}", Guess(answer))

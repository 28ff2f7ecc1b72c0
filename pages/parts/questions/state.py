"""The settings of the page of questions. A link starts no run."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, cast

import streamlit as st
from pydantic import field_validator

from engine.experiments.experiment import LIVE_SEED
from engine.experiments.issues import ISSUES, RENAMED
from engine.experiments.issues.issue import Issue
from engine.settings.errors import ConfigError, Problem
from engine.settings.fields import setting, to_text
from engine.settings.names import resolve_name
from pages.parts.app.page_state import ModelSettings, PageState, not_allowed, one_of
from pages.parts.experiments.question import Guess, guess_of, keep_guess
from pages.parts.experiments.run_buttons import seeds_setting
from pages.parts.experiments.running import EXPERIMENTS, ExperimentRequest, shown_run, shown_runs

ISSUE, FOUND, EXPERIMENT, GUESS, SIZE = "issue", "found", "experiment", "guess", "size"
ANSWERED = "questions.answered"


class QuestionsState(PageState):
    issue: Annotated[str | None, one_of(ISSUES, RENAMED)] = None
    found: bool = setting(False, label="Show the answers", help="Leave it off to guess first.")
    seeds: int = seeds_setting()
    first_seed: int = setting(
        LIVE_SEED, label="First seed", help="The run uses this seed and the next ones. Stored seeds have lower numbers.",
        ge=LIVE_SEED, le=2 * LIVE_SEED,
    )  # fmt: skip
    extended: bool = setting(False, label="Extended", help="Also train the arms that take longer.")
    experiment: str | None = None
    guess: int | None = setting(None, label="Guess", help="Your guess before the run.", ge=-1, le=1)
    size: float | None = setting(None, label="Size", help="The size that you guessed before the run.", ge=-1e9, le=1e9)

    @field_validator("found", "extended", mode="before")
    @classmethod
    def _true_or_false(cls, given: object) -> object:
        if isinstance(given, str) and given not in ("true", "false"):
            raise not_allowed("true or false")
        return given

    def check(self) -> None:
        if self.experiment is not None:
            # a link names a run together with its issue
            run = EXPERIMENTS.find(self.experiment)
            if run is None or run.experiment.slug != self.issue:
                allowed = "a run that this server still has; its trials are kept, so a new run continues from them"
                raise ConfigError([Problem(EXPERIMENT, self.experiment, allowed)])


class QuestionsSettings(ModelSettings[QuestionsState]):
    """Settings go along from question to question: a link changes only those that it names. Each question keeps its
    shown run."""

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        read, ignored = super().read(query)
        given = (query.keys() & read.keys()) - {problem.setting for problem in ignored}
        return {**self.values(), **{name: read[name] for name in given}}, ignored

    def open_address(self) -> tuple[dict[str, str], list[Problem]]:
        link, ignored = super().open_address()
        # The address always says which question is shown: a link to the map names none.
        slug = resolve_name(st.query_params.get(ISSUE, ""), ISSUES, RENAMED)
        values = self.values()
        if values[EXPERIMENT] is not None:
            shown_runs()[values[ISSUE]] = values[EXPERIMENT]
            if values[GUESS] is not None:
                keep_guess(values[ISSUE], Guess(values[GUESS], values[SIZE]))
        self.put({ISSUE: slug if slug in ISSUES else None, **dict.fromkeys((EXPERIMENT, GUESS, SIZE))})
        return link, ignored

    def query(self, *others: Mapping[str, Any]) -> dict[str, str]:
        """The query of the map or of a question. A question's has its run and the guess before it, while this server
        has the run."""
        slug, with_answers = self.values()[ISSUE], self.values()[FOUND]
        if slug is None:
            return {FOUND: to_text(with_answers)} if with_answers else {}
        query = super().query(*others)
        query.pop(FOUND, None)  # only the map's address has it
        name, run = shown_run(ISSUES[slug])
        if run is None:
            return query
        guess = guess_of(slug)
        specific = {EXPERIMENT: name, GUESS: guess.answer, SIZE: guess.size}
        return query | {name: to_text(value) for name, value in specific.items() if value is not None}


SETTINGS = QuestionsSettings("questions", QuestionsState)


def request(issue: Issue) -> Issue:
    values = SETTINGS.values()
    return replace(issue, seeds=values["seeds"], first_seed=values["first_seed"])


def extended() -> bool:
    return bool(SETTINGS.values()["extended"])


def requested_run(issue: Issue) -> ExperimentRequest:
    def keep(name: str) -> None:
        shown_runs()[issue.slug] = name

    return ExperimentRequest(request(issue), keep, shown_runs().get(issue.slug, ""), extended=extended())


def shown_answers() -> set[str]:
    """The slugs of the questions whose stored answer is shown. Change the set to show or close an answer."""
    return cast(set[str], st.session_state.setdefault(ANSWERED, set()))


def forget(issue: Issue) -> None:
    shown_answers().discard(issue.slug)
    shown_runs().pop(issue.slug, None)

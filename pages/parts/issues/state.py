"""The settings of the issues page (the issue, how it is to be run, the run that is looked at), and the controls for it. A link starts no
run."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any

import streamlit as st
from pydantic import field_validator

from engine.experiments.experiment import LIVE_SEED, MOST_SEEDS
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES, RENAMED
from engine.experiments.issues.issue import Issue
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.trial import Trial
from engine.foundation.formatting import counted
from engine.settings.errors import ConfigError, Problem
from engine.settings.fields import setting, to_text
from engine.settings.names import meant
from pages.parts.app.page_state import ModelSettings, PageState, not_allowed, one_of
from pages.parts.experiments.question import Guess, guess_of, keep_guess
from pages.parts.experiments.run_buttons import forecast, seeds_setting
from pages.parts.experiments.running import EXPERIMENTS, RunRequest, begin, shown_run, shown_runs

ISSUE, EXPERIMENT, GUESS, SIZE = "issue", "experiment", "guess", "size"


class IssueState(PageState):
    issue: Annotated[str | None, one_of(ISSUES, RENAMED)] = None
    seeds: int = seeds_setting()
    first_seed: int = setting(
        LIVE_SEED, label="First seed", help="The seeds are this one and those that follow. Stored seeds have lower numbers.",
        ge=LIVE_SEED, le=2 * LIVE_SEED,
    )  # fmt: skip
    extended: bool = setting(False, label="Extended", help="Also the arms that take longer.")
    experiment: str | None = None
    guess: int | None = setting(None, label="Guess", help="The answer that was guessed before the run.", ge=-1, le=1)
    size: float | None = setting(None, label="Size", help="The size that was guessed before the run.", ge=-1e9, le=1e9)

    @field_validator("extended", mode="before")
    @classmethod
    def _true_or_false(cls, given: object) -> object:
        if isinstance(given, str) and given not in ("true", "false"):
            raise not_allowed("true or false")
        return given

    def check(self) -> None:
        """A link names a run together with its issue."""
        if self.experiment is not None:
            run = EXPERIMENTS.find(self.experiment)
            if run is None or run.experiment.slug != self.issue:
                allowed = "a run that this server still holds; its trials are kept, and Run goes on from them"
                raise ConfigError([Problem(EXPERIMENT, self.experiment, allowed)])


class IssueSettings(ModelSettings[IssueState]):
    """Settings go along from issue to issue: what a link leaves out stays as it is. Each issue keeps its run in sight."""

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        read, ignored = super().read(query)
        given = (query.keys() & read.keys()) - {problem.setting for problem in ignored}
        return {**self.values(), **{name: read[name] for name in given}}, ignored

    def open_address(self) -> tuple[dict[str, str], list[Problem]]:
        """The address says at any time which issue is shown: a link to the map is empty."""
        link, ignored = super().open_address()
        slug = meant(st.query_params.get(ISSUE, ""), ISSUES, RENAMED)
        values = self.values()
        if values[EXPERIMENT] is not None:
            shown_runs()[values[ISSUE]] = values[EXPERIMENT]
            if values[GUESS] is not None:
                keep_guess(values[ISSUE], Guess(values[GUESS], values[SIZE]))
        self.put({ISSUE: slug if slug in ISSUES else None, **dict.fromkeys((EXPERIMENT, GUESS, SIZE))})
        return link, ignored

    def query(self, *others: Mapping[str, Any]) -> dict[str, str]:
        """The map's is empty; an issue's names its run as long as this server holds it, with the guess that was made before it."""
        slug = self.values()[ISSUE]
        if slug is None:
            return {}
        name, run = shown_run(ISSUES[slug])
        if run is None:
            return super().query(*others)
        guess = guess_of(slug)
        own = {EXPERIMENT: name, GUESS: guess.answer, SIZE: guess.size}
        return super().query(*others) | {name: to_text(value) for name, value in own.items() if value is not None}


SETTINGS = IssueSettings("issues", IssueState)


def request(issue: Issue) -> Issue:
    values = SETTINGS.values()
    return replace(issue, seeds=values["seeds"], first_seed=values["first_seed"])


def extended() -> bool:
    return bool(SETTINGS.values()["extended"])


def show_settings(issue: Issue) -> None:
    """Seeds and arms, and the time that they take, behind a button that says how many seeds are set."""
    slow = any(arm.extended for arm in issue.arms)
    label = f"{counted(request(issue).seeds, 'seed')} of my own"
    with st.popover(label, icon=":material/tune:"):
        SETTINGS.widget("seeds")
        SETTINGS.widget("first_seed")
        told_text = "Also the arms that take longer." if slow else "This issue has no longer arms."
        SETTINGS.widget("extended", disabled=not slow, help=told_text)
        st.caption(forecast(request(issue), extended()))


def requested_run(issue: Issue, stored: Sequence[Trial] = ()) -> RunRequest:
    """The run with what is set. From now on stored seeds are shown, also where the run is refused."""

    def keep(name: str) -> None:
        shown_runs()[issue.slug] = name

    return RunRequest(request(issue), keep, shown_runs().setdefault(issue.slug, ""), extended=extended(), stored=stored)


def offer_more_seeds(issue: Issue, run: ExperimentRun) -> None:
    """A button for more seeds, where the present ones could not decide a claim."""
    open_claims = [claim for claim in run.report.claims if claim.finding is Finding.UNDECIDED]
    more = min(MOST_SEEDS, 2 * max(4, len(run.seeds)))
    if run.trials and open_claims and more > len(run.seeds):
        st.button(
            f"Undecided claims: go on to {more} seeds", icon=":material/add:", on_click=_go_on, args=(issue, run, more),
            help="Trials that have finished are not trained again.",
        )  # fmt: skip


def _go_on(issue: Issue, run: ExperimentRun, seeds: int) -> None:
    SETTINGS.put({"seeds": seeds})
    begin(requested_run(issue, run.trials))


def forget(issue: Issue) -> None:
    """Close the run, so that the reader can guess again."""
    shown_runs().pop(issue.slug, None)

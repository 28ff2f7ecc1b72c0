"""Every offer of the app runs under every profile: pages as they open, presets, lessons, every arm of every issue, designs and
their comparisons, and the measurement of memory and time."""

from collections.abc import Iterator, Sequence

import pytest

from engine.analysis.measurements import with_measurements
from engine.config.link import from_query
from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig, parse_leniently
from engine.encodings import ENCODINGS
from engine.estimate.prediction import Prediction, predict
from engine.estimate.speed import BASELINES, BaselineSpeed, Speed, remember_speeds
from engine.experiments.comparison import RIVALS, Comparison
from engine.experiments.experiment import Experiment
from engine.experiments.issues import ISSUES
from engine.experiments.lessons import LESSONS, PREPARED
from engine.experiments.sweeps import guard
from engine.experiments.sweeps.plan import Plan
from engine.serving.limits import PROFILE, PROFILES, Limits, refusal
from engine.settings.architectures import ARCHITECTURES
from engine.tasks import TASKS

# a core of about half the speed of a present one
SLOW = Speed(0.001, 25e9, tuple(BaselineSpeed(family, 0.001, 0.0002, 1e-8, 2e-10) for family in BASELINES))

Offer = tuple[RunConfig, Sequence[str]]  # A config, and the measurements at the end of its run


def in_the_lab() -> Iterator[Offer]:
    """The lab as it opens, with each task, family and encoding chosen there, its presets, and the lab's steps of the lessons."""
    for name, choices in (("task", TASKS), ("family", ARCHITECTURES), ("pos_encoding", ENCODINGS)):
        yield from ((parse_leniently({name: choice})[0], ()) for choice in choices)
    yield from ((preset.config, ()) for preset in PRESETS.values())
    steps = (step for lesson in LESSONS.values() for step in lesson.steps if not step.issue)
    yield from ((from_query(step.query)[0], ()) for step in steps)


def on_text() -> Iterator[Offer]:
    yield from ((PRESETS["next-word"].config.replace(pos_encoding=name), ()) for name in ENCODINGS)


def in_prepared_steps() -> Iterator[Offer]:
    for step in PREPARED.values():
        yield from ((step.config.replace(**{step.guide.vary: value}), ()) for value in step.guide.values)


def of(experiment: Experiment) -> Iterator[Offer]:
    yield from ((experiment.config(arm), arm.measurements) for arm in experiment.arms)


def of_a_design() -> Iterator[Offer]:
    for rivals in (RIVALS[first : first + 5] for first in range(0, len(RIVALS), 5)):
        yield from of(Comparison({}, rivals).experiment)


OFFERS = {
    "lab": in_the_lab,
    "text": on_text,
    "prepared steps": in_prepared_steps,
    "design": of_a_design,
    **{slug: lambda issue=issue: of(issue) for slug, issue in ISSUES.items()},
}


@pytest.fixture(autouse=True)
def on_a_slow_core(own_data_folder: object) -> None:
    remember_speeds({"cpu": SLOW})


@pytest.mark.parametrize("offer", OFFERS)
@pytest.mark.parametrize("profile", PROFILES)
def test_what_the_app_offers_runs(profile: str, offer: str) -> None:
    limits = Limits.from_environment({PROFILE: profile})
    for config, measurements in OFFERS[offer]():

        def predicted(one: RunConfig, measurements: Sequence[str] = measurements) -> Prediction:
            return with_measurements(predict(one), one, measurements)

        assert refusal(config, predicted(config), limits, predicted) is None, config.flat()


@pytest.mark.parametrize("axis", ["length", "depth"])
@pytest.mark.parametrize("profile", PROFILES)
def test_the_measurement_of_memory_and_time_runs_as_it_opens(profile: str, axis: str) -> None:
    assert guard.refusal(Plan(axis=axis), Limits.from_environment({PROFILE: profile})) is None

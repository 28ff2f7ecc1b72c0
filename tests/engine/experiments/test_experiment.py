"""An experiment as a value: its seeds, and what makes two arms the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.experiments.experiment import Arm
from tests.engine.experiments.fake_issue import fake_issue


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"seeds": 0}, "seeds is 0; allowed is a whole number from 1 to 16."),
        ({"first_seed": -1}, "first_seed is -1; allowed is a whole number from 0"),
    ],
)
def test_bad_numbers_are_refused_in_one_sentence(given: dict[str, int], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        fake_issue(**given)


def test_the_seeds_follow_the_first() -> None:
    assert fake_issue(seeds=3, first_seed=10).seed_range == range(10, 13)


def test_an_arm_is_the_same_under_another_name_but_not_under_other_settings() -> None:
    experiment = fake_issue()
    long = experiment.arm("long")
    other = replace(experiment, slug="other", seeds=2, base={**experiment.base, "learning_rate": 1e-5})
    assert experiment.identity(long) == experiment.identity(Arm("renamed", "fault", {}))
    assert experiment.identity(long) != experiment.identity(replace(long, measurements=("pointing",)))
    assert experiment.identity(long) != experiment.identity(experiment.arm("short"))
    assert experiment.identity(long) != other.identity(long)
    assert experiment.identity(long) != replace(experiment, curves=("grad.0.q",)).identity(long)

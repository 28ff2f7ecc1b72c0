"""The four findings, each from effects that leave no doubt about which it is."""

from __future__ import annotations

import pytest

from engine.experiments.statistics import Finding, weigh


@pytest.mark.parametrize(
    ("effects", "direction", "finding"),
    [
        ([0.5, 0.6, 0.5, 0.6, 0.5, 0.6], "more", "holds"),
        ([-0.5, -0.6, -0.5, -0.6, -0.5, -0.6], "less", "holds"),
        ([-0.5, -0.6, -0.5, -0.6, -0.5, -0.6], "more", "opposite"),
        ([0.5, 0.6, 0.5, 0.6, 0.5, 0.6], "less", "opposite"),
        ([0.01, -0.01, 0.02, -0.02, 0.0, 0.01], "more", "none"),
        # Surely on the other side, and yet too small to be worth naming.
        ([-0.02, -0.03, -0.02, -0.03, -0.02, -0.03], "more", "none"),
        # The interval excludes zero and p does not fall below .05: no finding rests on the interval alone, on either side.
        ([1.0, 1.0, 1.0, 1.0, 1.0, -0.01], "more", "undecided"),
        ([-1.0, -1.0, -1.0, -1.0, -1.0, 0.01], "more", "none"),
        ([0.9, -0.9, 0.8, -0.2, 0.5, -0.1], "more", "undecided"),
        ([0.5, 0.6, 0.5], "more", "undecided"),
    ],
)
def test_the_finding_about_effects(effects: list[float], direction: str, finding: Finding) -> None:
    assert weigh(effects, 0.1, direction).finding == finding  # type: ignore[arg-type]


def test_too_few_seeds_say_how_many_are_needed() -> None:
    assert weigh([0.5, -0.5] * 2 + [0.1], 0.1).words == "Undecided (needs at least six seeds)"
    assert weigh([0.5, -0.5] * 3, 0.1).words == Finding.UNDECIDED.words
    assert weigh([0.5] * 6, 0.1).words == "Holds"


def test_a_finding_has_the_sign_of_the_effect_on_the_claimed_side() -> None:
    assert [finding.sign for finding in Finding] == [1, -1, 0, None]
    assert [weigh([size] * 6, 0.1).finding.sign for size in (0.5, -0.5, 0.0)] == [1, -1, 0]

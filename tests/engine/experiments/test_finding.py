"""The four findings, each from effects that leave no doubt about which it is."""

from __future__ import annotations

import pytest

from engine.experiments.finding import FINDINGS, Finding, in_words
from engine.experiments.statistics import weigh


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
    assert in_words("undecided", 5) == "Undecided (needs at least six seeds)"
    assert in_words("undecided", 6) == FINDINGS["undecided"]
    assert in_words("holds", 6) == "Holds"

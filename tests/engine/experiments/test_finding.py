"""The four words for what was found: the fourth is read from effect and interval."""

from __future__ import annotations

import pytest

from engine.experiments.finding import FINDINGS, Finding, finding_of, in_words
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
        ([0.9, -0.9, 0.8, -0.2, 0.5, -0.1], "more", "undecided"),
        ([0.5, 0.6, 0.5], "more", "undecided"),
    ],
)
def test_a_finding_is_read_from_effect_and_interval(effects: list[float], direction: str, finding: Finding) -> None:
    assert finding_of(weigh(effects, 0.1, direction), 0.1, direction) == finding  # type: ignore[arg-type]


def test_too_few_seeds_say_how_many_are_needed() -> None:
    assert in_words("undecided", 5) == "Undecided (needs at least six seeds)"
    assert in_words("undecided", 6) == FINDINGS["undecided"]
    assert in_words("holds", 6) == "Holds"

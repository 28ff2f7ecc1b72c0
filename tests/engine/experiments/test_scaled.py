"""The sentence on larger models says whether the sign stays, from the stored numbers of today's arms."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.experiments.issues import ISSUES
from engine.experiments.scaled import FILE, LARGER_MODELS, LargerModel, read_scaled
from tests.engine.experiments.fake_issue import fake_issue

FIGURE = fake_issue().key_figure


@pytest.mark.parametrize(
    ("effect", "smallest", "words"),
    [
        (-0.2, 0.05, "the sign is the same"),
        (0.2, 0.05, "the sign is not the same"),
        (-0.2, 0.6, "there is no difference that counts"),
    ],
)
def test_the_sign_of_a_difference_that_counts_is_compared_with_that_of_the_shown_effect(
    effect: float, smallest: float, words: str
) -> None:
    sentence = LargerModel((0.8, 1.0), (0.3, 0.5), 300).sentence(FIGURE, effect, smallest)
    assert sentence == (
        f"In a larger model (2 seeds, 300 steps, width 128) {words}: “nine steps” 0.90, “one step” 0.40."
    )


def test_numbers_of_other_arms_are_not_shown(tmp_path: Path) -> None:
    issue = fake_issue()
    marks = {name: issue.fingerprint(issue.arm(name)) for name in ("short", "long")}
    row = {"before": [0.9], "after": [0.4], "steps": 300, "fingerprints": marks}
    (tmp_path / FILE).write_text(json.dumps({"fake": row}))
    assert read_scaled(issue, tmp_path) == LargerModel((0.9,), (0.4,), 300)
    short, *others = issue.arms
    assert read_scaled(replace(issue, arms=(replace(short, settings={"steps": 2}), *others)), tmp_path) is None
    assert read_scaled(replace(issue, arms=tuple(others)), tmp_path) is None
    assert read_scaled(replace(issue, slug="other"), tmp_path) is None


@pytest.mark.parametrize("slug", LARGER_MODELS)
def test_the_larger_arms_are_allowed_settings(slug: str) -> None:
    issue = ISSUES[slug]
    for row in (issue.key_figure.before, issue.key_figure.after):
        arm = issue.arm(row.arm)
        assert issue.config(replace(arm, settings={**arm.settings, **LARGER_MODELS[slug]})).d_model == 128

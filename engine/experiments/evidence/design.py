"""The design of an issue as a hash, fixed in ``designs.json`` before its fresh seeds are run. It covers the arms, the
rates, the claims and the rule, but no words."""

import random
from pathlib import Path
from typing import Any

import numpy as np

from engine.experiments import bounds, finding, statistics
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.tables import store_rows, stored_rows
from engine.experiments.experiment import Claim, Experiment
from engine.experiments.issues.issue import Issue
from engine.foundation.stored_json import hash_of

FILE = "designs.json"
# the numbers by which a finding is reached
RULE = (
    finding.FEWEST_SEEDS, finding.READERS_SEEDS, finding.LEARNED_SEEDS, statistics.LEVEL, statistics.FEWEST_FOR_HOLM, bounds.NEAR,
)  # fmt: skip


def design_hash(experiment: Experiment) -> str:
    """Twelve hexadecimal digits of the arms with their rates, the claims in their order, the claim of the first screen,
    and the rule."""
    arms = {arm.name: experiment.fingerprint(arm) for arm in experiment.arms}
    claims = [_as_data(claim) for claim in experiment.claims]
    headline = experiment.key_figure.claim if isinstance(experiment, Issue) else ""
    return hash_of([RULE, arms, sorted(experiment.rates_at_grid_edge), claims, headline], 12)


def fixed_designs(folder: Path = FOLDER) -> dict[str, str]:
    return stored_rows(folder / FILE)


def fix_designs(designs: dict[str, str], folder: Path = FOLDER) -> None:
    store_rows(folder / FILE, designs, 1)


def _as_data(claim: Claim) -> list[Any]:
    # a formula has no other text that is stable: its results on numbers drawn by name represent it
    effect = claim.effect(
        lambda arm, metric: np.array([random.Random(f"{arm} {metric} {i}").random() for i in range(8)])
    )
    effects = [f"{value:.9g}" for value in effect]
    return [
        claim.id,
        effects,
        claim.effect_numbers,
        claim.smallest_effect,
        claim.direction,
        claim.learned,
        claim.computed,
    ]

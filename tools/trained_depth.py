"""Train the two arms of questions about depth and store what training did to their numbers by depth
(``engine/experiments/evidence/depth.json``).

    python -m tools.trained_depth SLUG ...     some issues; without a name those that are stored, again
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from engine.analysis.depth.jobs import DepthNumbers, to_json
from engine.analysis.depth.measure import of_model
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.tables import store_rows
from engine.experiments.experiment import Arm
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.trained_depth import FILE, SEEDS, rows
from engine.foundation.json_lines import with_digits
from engine.runs.events import Failed
from engine.runs.record_options import LEAST_RECORD
from engine.training.train import begin, train

DIGITS = 3  # significant ones: the figures show no more


def before_and_after(issue: Issue, arm: Arm, seed: int) -> tuple[DepthNumbers, DepthNumbers]:
    """The numbers of an arm's model with its initial weights and with its last ones. Raises RuntimeError if its training
    fails."""
    config = issue.config(arm, seed)
    state = begin(config)
    batch = state.data.validation_batch().to(state.device)
    untrained = of_model(state.model, batch)  # type: ignore[arg-type]
    for event in train(config, record=LEAST_RECORD, state=state):
        if isinstance(event, Failed):
            raise RuntimeError(f"{issue.slug}, {arm.name}, seed {seed}: {event.reason}")
    return untrained, of_model(state.model, batch)  # type: ignore[arg-type]


def row_of(issue: Issue, arm: Arm) -> dict[str, Any]:
    pairs = [before_and_after(issue, arm, seed) for seed in SEEDS]
    untrained, trained = (
        [with_digits(to_json(numbers), DIGITS) for numbers in side] for side in zip(*pairs, strict=True)
    )
    return {"fingerprint": issue.fingerprint(arm), "untrained": untrained, "trained": trained}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("issues", nargs="*", metavar="SLUG")
    parser.add_argument("--write", type=Path, default=FOLDER, metavar="FOLDER")
    given = parser.parse_args(arguments)
    torch.set_num_threads(1)
    whole = dict(rows(given.write))
    for slug in given.issues or list(whole):
        issue, figure = ISSUES[slug], ISSUES[slug].key_figure
        names = dict.fromkeys(row.arm for row in (figure.before, figure.after))
        whole[slug] = {name: row_of(issue, issue.arm(name)) for name in names}
        print(slug, flush=True)
    ordered = {slug: whole[slug] for slug in ISSUES if slug in whole}
    store_rows(given.write / FILE, ordered, 4)


if __name__ == "__main__":
    main()

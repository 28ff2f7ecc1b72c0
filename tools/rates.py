"""Measure the learning rates at which the arms of an experiment are compared, on the pilot seeds, which no finding uses.

    python -m tools.rates SLUG ...    an issue's rates; --all: every issue's; --only-new: of the arms that have none yet
    python -m tools.rates choice      those of the table of Encodings

Each trial is kept as it ends: after Ctrl-C the same command goes on where it was.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from rich.table import Table

from engine.cli.cluster import add_scheduler, warm_pool
from engine.cli.experiments import run_to_end
from engine.cli.terminal import console, table
from engine.experiments.benchmark.criteria import CHOICE
from engine.experiments.evidence import FOLDER
from engine.experiments.experiment import PILOT_SEEDS, PILOTS, Experiment
from engine.experiments.issues import ISSUES
from engine.experiments.rates import RateGrid, best_in_words, measured_grids, read_grids, write_grids
from engine.serving.pool import Pool


def measure_rates(
    experiment: Experiment, pool: Pool, folder: Path, *, extended: bool = False, only_new: bool = False
) -> None:
    """Measure the grids of an experiment's arms, or only of those without one in the folder, write them there, and
    print them."""
    stored = {grid.arm: grid for grid in read_grids(experiment.slug, folder) if only_new}
    wanted = replace(experiment, arms=tuple(arm for arm in experiment.arms if arm.name not in stored))
    grids = measured_grids(wanted, lambda part: run_to_end(part, pool, as_json=False).trials, extended)
    every = stored | {grid.arm: grid for grid in grids}
    write_grids(experiment.slug, [every[arm.name] for arm in experiment.arms if arm.name in every], folder)
    console().print(rates_table(experiment, grids))


def rates_table(experiment: Experiment, grids: list[RateGrid]) -> Table:
    def score(mean: float) -> str:
        return f"{mean:.3g}" if math.isfinite(mean) else "failed"

    rows = []
    for grid in grids:
        scores = "  ".join(f"{rate:g}: {score(abs(grid.mean(rate)))}" for rate in sorted(grid.scores))
        guessing = "" if grid.chance is None else f"{grid.chance:.3g}"
        rows.append((grid.arm, f"{grid.arm_rate:g}", best_in_words(grid), grid.metric, guessing, scores))
    columns = ("arm", "own rate", "best rate", "score", "guessing", f"mean of {len(PILOT_SEEDS)} seeds at each rate")
    return table(f"{experiment.slug}: the learning rate of each arm, chosen on {PILOTS}", columns, rows)


def experiment_named(slug: str) -> Experiment:
    """Raises ValueError if there is none."""
    known: dict[str, Experiment] = {**ISSUES, CHOICE.slug: CHOICE}
    if slug not in known:
        raise ValueError(slug)
    return known[slug]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="*", metavar="SLUG", type=experiment_named)
    parser.add_argument("--all", action="store_true", help="every issue")
    parser.add_argument("--extended", action="store_true", help="also the arms that take longer")
    parser.add_argument("--only-new", action="store_true", help="only the arms that have no rates yet")
    parser.add_argument("--write", type=Path, default=FOLDER, metavar="FOLDER", help="where to write the rates")
    add_scheduler(parser)
    given = parser.parse_args(arguments)
    given.write.mkdir(parents=True, exist_ok=True)
    with warm_pool(given.scheduler) as pool:
        for experiment in ISSUES.values() if given.all else given.experiments:
            measure_rates(experiment, pool, given.write, extended=given.extended, only_new=given.only_new)


if __name__ == "__main__":
    main()

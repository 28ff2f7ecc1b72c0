"""Experiments on the command line: running one to its end, and measuring the learning rates of its arms."""

import math
from functools import partial
from pathlib import Path

from rich.progress import TimeRemainingColumn
from rich.table import Table

from engine.cli.terminal import POLL_SECONDS, console, follow, kept, print_json, table
from engine.experiments.experiment import PILOT_SEEDS, PILOTS, Experiment
from engine.experiments.rates import RateGrid, as_row, at_best_rates, best_in_words, measured_grids, write_grids
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.workers.pool import Pool


def run_to_end(experiment: Experiment, pool: Pool, *, as_json: bool, extended: bool = False) -> ExperimentRun:
    """Run an experiment with a bar, or with a line of JSON for each trial. Raises ValueError with the reason where it fails."""
    find, save_trial = partial(trial_cache.find, experiment), partial(trial_cache.save, experiment)
    task = ExperimentRun(experiment, pool, extended=extended, find=find, save=save_trial).start()
    if as_json:
        _follow_as_json(task)
    else:
        follow(task, experiment.slug, TimeRemainingColumn())
    if task.state == "failed":
        raise ValueError(task.problem)
    trial_cache.delete_oldest()
    return task


def measure_rates(
    experiment: Experiment, pool: Pool, *, as_json: bool, extended: bool = False, folder: Path | None = None
) -> Experiment:
    """Measure the grids of an experiment's arms, and print and write them; the experiment with each arm at its best rate."""
    grids = measured_grids(experiment, lambda part: run_to_end(part, pool, as_json=as_json).trials, extended)
    if as_json:
        print_json(*({"event": "rates", "slug": experiment.slug, **as_row(grid)} for grid in grids))
    else:
        console().print(rates_table(experiment, grids))
    if folder is not None:
        kept("The learning rates", partial(write_grids, experiment.slug, grids, folder))
    return at_best_rates(experiment, grids)


def _follow_as_json(run: ExperimentRun) -> None:
    """Print a line of JSON for each trial that ends."""
    said = 0
    while True:
        over = run.wait(POLL_SECONDS)
        for trial in run.trials[said:]:
            said += 1
            print_json({
                "event": "trial", "slug": run.experiment.slug, "arm": trial.arm, "seed": trial.seed,
                "numbers": trial.numbers, "outcome": trial.outcome, "done": said, "total": run.total,
            })  # fmt: skip
        if over:
            return


def rates_table(experiment: Experiment, grids: list[RateGrid]) -> Table:
    """A row for each arm: its chosen rate, and the mean score over the pilot seeds at each rate."""

    def score(mean: float) -> str:
        return f"{mean:.3g}" if math.isfinite(mean) else "failed"

    rows = []
    for grid in grids:
        scores = "  ".join(f"{rate:g}: {score(abs(grid.mean(rate)))}" for rate in sorted(grid.scores))
        guessing = "" if grid.chance is None else f"{grid.chance:.3g}"
        rows.append((grid.arm, f"{grid.own:g}", best_in_words(grid), grid.metric, guessing, scores))
    columns = ("arm", "own rate", "best rate", "score", "guessing", f"mean of {len(PILOT_SEEDS)} seeds at each rate")
    return table(f"{experiment.slug}: the learning rate of each arm, chosen on {PILOTS}", columns, rows)

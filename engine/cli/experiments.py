from functools import partial

from rich.progress import TimeRemainingColumn

from engine.cli.terminal import POLL_SECONDS, follow, print_json
from engine.experiments.experiment import Experiment
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.serving.pool import Pool


def run_to_end(experiment: Experiment, pool: Pool, *, as_json: bool, extended: bool = False) -> ExperimentRun:
    """Show a bar, or print a line of JSON for each trial. Raises ValueError with the reason if the experiment fails."""
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


def _follow_as_json(run: ExperimentRun) -> None:
    printed = 0
    while True:
        over = run.wait(POLL_SECONDS)
        for trial in run.trials[printed:]:
            printed += 1
            print_json({
                "event": "trial", "slug": run.experiment.slug, "arm": trial.arm, "seed": trial.seed,
                "numbers": trial.numbers, "outcome": trial.failure, "done": printed, "total": run.total,
            })  # fmt: skip
        if over:
            return

"""The forecast of an experiment: its trials and time, in a sentence."""

from __future__ import annotations

from collections.abc import Sequence

from engine.estimate.prediction import predict
from engine.experiments.experiment import Experiment
from engine.experiments.trial import Trial
from engine.foundation.formatting import counted, in_time
from pages.parts.app import server


def forecast(experiment: Experiment, extended: bool = False, stored: Sequence[Trial] = ()) -> str:
    """The trials and time that an experiment will take, in a sentence. ``stored`` trials are not trained again."""
    arms, seeds = experiment.arms_of(extended), experiment.seeds
    trials = len(arms) * seeds
    words = f"{counted(len(arms), 'arm')} × {counted(seeds, 'seed')} = {counted(trials, 'trial')}"
    if stored:
        words += f", {len(stored) if len(stored) < trials else 'all'} of them kept on this machine"
    to_train = {arm.name: seeds - sum(trial.arm == arm.name for trial in stored) for arm in arms}
    times = [
        (predict(config).seconds_per_step, config.steps * to_train[arm.name])
        for arm in arms
        for config in [experiment.config(arm)]
        if config.steps > 1  # otherwise it is not trained, and all its time goes into measuring
    ]
    if not times or len(stored) == trials or any(pace is None for pace, _ in times):
        return f"{words}."
    seconds = sum((pace or 0.0) * steps for pace, steps in times) / server.pool().size
    return f"{words}, about {in_time(seconds)} here and the time for measuring."

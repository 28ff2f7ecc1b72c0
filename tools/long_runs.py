"""Train the arms of key figures for ten times their steps and store their curves, ``engine/experiments/evidence/long.json``.

    python -m tools.long_runs SLUG ...     those of some issues; --all: of every one
    python -m tools.long_runs --all --contrast --processes 2     only the arms that a question compares

An arm is stored when all its seeds have ended: after Ctrl-C the same command goes on with the next one.
"""

import argparse
import multiprocessing
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import torch

from engine.analysis.measurements.take import take_measurement
from engine.estimate.prediction import predict
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.tables import store_rows
from engine.experiments.experiment import CONFIRMATORY_SEEDS, Arm
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.long_runs import (
    FILE,
    PILOT_SEEDS,
    RATES,
    SOLVED_LEVEL,
    SOLVED_MARKS,
    has_level,
    is_stored,
    long_config,
    long_contrasts,
    marks,
    numbers_of_long_runs,
    padded,
    rows,
)
from engine.experiments.rates import score_of, times
from engine.experiments.trial import numbers_of
from engine.runs.events import Event, Failed, Finished, Progress
from engine.training.evaluation import evaluate
from engine.training.result import Trained, measured_result
from engine.training.train import begin, train

Curves = dict[str, list[float]]  # by number, its value at each mark, [mark]


def long_curves(slug: str, arm: str, metrics: Sequence[str], rate: float, seed: int) -> Curves:
    """The numbers of one long run at its marks. Raises RuntimeError if it fails, except where only
    ``finite`` is asked."""
    torch.set_num_threads(1)
    issue = ISSUES[slug]
    config = long_config(issue, issue.arm(arm), seed, rate)
    at = marks(issue.config(issue.arm(arm)).steps)
    record = replace(issue.record(issue.arm(arm)), evaluations=1)
    prediction, state = predict(config), begin(config)
    trained = Trained(config, state.model, state.data, state.device)
    held_out = state.data.validation_batch().to(state.device)
    curves: Curves = {metric: [] for metric in metrics}
    progress: list[Event] = []
    for event in train(config, record=record, state=state, measure=take_measurement):
        if isinstance(event, Failed):
            if [*metrics] != ["finite"]:
                raise RuntimeError(f"{slug}, {arm}, seed {seed}, rate {rate:g}: {event.reason}")
            return {"finite": padded([*curves["finite"], 0.0], len(at))}
        if not isinstance(event, Progress):
            continue
        progress.append(event)
        if event.step not in at:
            continue
        numbers = evaluate(trained.model, held_out)
        if not numbers.keys() >= curves.keys():
            events = list(measured_result(state, numbers, record, prediction, take_measurement))
            numbers = numbers_of([*progress, *(each for each in events if isinstance(each, Finished))])
        for metric, curve in curves.items():
            curve.append(float(f"{numbers[metric]:.4g}"))
        if all(has_level(metric) for metric in metrics) and is_solved(curves.values()):
            break
    return {metric: padded(curve, len(at)) for metric, curve in curves.items()}


def is_solved(curves: Iterable[Sequence[float]]) -> bool:
    return all(len(curve) >= SOLVED_MARKS and min(curve[-SOLVED_MARKS:]) >= SOLVED_LEVEL for curve in curves)


def measured_arm(
    issue: Issue, arm: Arm, metrics: Sequence[str], pool: "multiprocessing.pool.Pool"
) -> dict[str, object]:
    at = marks(issue.config(arm).steps)
    own = issue.config(arm).learning_rate
    rates = [times(own, factor) for factor in RATES] if arm.tuned else [own]
    scored = metrics if has_level(metrics[0]) else [score_of(arm, issue.config(arm)).removeprefix("best_")]
    score = scored[0]
    pilots = {rate: _stacked(issue, arm, scored, rate, PILOT_SEEDS, pool)[score] for rate in rates if len(rates) > 1}
    scores = {rate: _score(score, curves) for rate, curves in pilots.items()}
    best = max(scores, key=lambda rate: scores[rate], default=own)
    best_curves = _stacked(issue, arm, metrics, best, CONFIRMATORY_SEEDS, pool)
    tried = {f"{rate:g}": round(value, 4) for rate, value in scores.items()}
    return {"rate": best, "tried": tried, "fingerprint": issue.fingerprint(arm), "steps": at, "values": best_curves}


def _stacked(
    issue: Issue, arm: Arm, metrics: Sequence[str], rate: float, seeds: Sequence[int], pool: "multiprocessing.pool.Pool"
) -> dict[str, list[list[float]]]:
    """By number, the curves over the seeds, [seed][mark]."""
    runs = pool.map(partial(long_curves, issue.slug, arm.name, metrics, rate), seeds, chunksize=1)
    return {metric: [run[metric] for run in runs] for metric in metrics}


def _score(metric: str, curves: Sequence[Sequence[float]]) -> float:
    """How well a rate learns: the mean under the curves of an accuracy on a logarithmic axis of steps, high if a run
    learns early and well; the lowest loss along a run, negative."""
    return float(np.mean(curves)) if has_level(metric) else -float(np.mean(np.min(curves, axis=1)))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("issues", nargs="*", metavar="SLUG")
    parser.add_argument("--all", action="store_true", help="every issue")
    parser.add_argument("--contrast", action="store_true", help="only the arms that the question compares")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", type=Path, default=FOLDER, metavar="FOLDER")
    given = parser.parse_args(arguments)
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for slug in ISSUES if given.all else given.issues:
            issue = ISSUES[slug]
            compared = {row.arm for rows_of_claim in long_contrasts(issue).values() for row in rows_of_claim}
            for name, metrics in numbers_of_long_runs(issue).items():
                if (given.contrast and name not in compared) or is_stored(issue, name, metrics, given.write):
                    continue
                write(slug, name, measured_arm(issue, issue.arm(name), metrics, pool), given.write)
                print(f"{slug}: {name}", flush=True)


def write(slug: str, arm: str, row: dict[str, object], folder: Path) -> None:
    whole = {name: dict(arms) for name, arms in rows(folder).items()}
    whole.setdefault(slug, {})[arm] = row
    ordered = {name: whole[name] for name in ISSUES if name in whole}
    store_rows(folder / FILE, ordered, 2)  # a line for each arm


if __name__ == "__main__":
    main()

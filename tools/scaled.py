"""Train the two arms of five questions one scale up, ``engine/experiments/evidence/scaled.json``.

python -m tools.scaled SLUG ...    some of them; without a name all that are not stored
"""

import argparse
import multiprocessing
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import torch

from engine.analysis.measurements.take import take_measurement
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.tables import store_rows
from engine.experiments.issues import ISSUES
from engine.experiments.key_figure import Row
from engine.experiments.rates import times
from engine.experiments.scaled import FILE, LARGER_MODELS, PILOT_SEED, RATES, SEEDS, TIMES_STEPS, read_scaled, rows
from engine.experiments.trial import read_trial
from engine.foundation.provenance import provenance
from engine.training.train import train


def number_of(slug: str, row: Row, rate: float, seed: int) -> float:
    """The number of a row of the key figure in a larger model. Raises RuntimeError if the run fails."""
    torch.set_num_threads(1)
    issue = ISSUES[slug]
    arm = issue.arm(row.arm)
    larger = {**arm.settings, **LARGER_MODELS[slug], "steps": issue.config(arm).steps * TIMES_STEPS[slug]}
    config = issue.config(replace(arm, settings=larger), seed).replace(learning_rate=rate)
    record = replace(issue.record(arm), evaluations=1)
    trial = read_trial(row.arm, seed, list(train(config, record=record, measure=take_measurement)))
    if trial.failure:
        raise RuntimeError(f"{slug}, {row.arm}, seed {seed}, rate {rate:g}: {trial.failure}")
    return round(trial.number(row.metric), 4)


def measured(slug: str, row: Row, pool: "multiprocessing.pool.Pool") -> tuple[float, list[float]]:
    issue = ISSUES[slug]
    own = issue.config(issue.arm(row.arm)).learning_rate
    rates = [times(own, factor) for factor in RATES]
    scores = pool.starmap(number_of, [(slug, row, rate, PILOT_SEED) for rate in rates], chunksize=1)
    best = rates[max(range(len(rates)), key=scores.__getitem__)]
    return best, pool.map(partial(number_of, slug, row, best), SEEDS, chunksize=1)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("issues", nargs="*", metavar="SLUG")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--write", type=Path, default=FOLDER, metavar="FOLDER")
    given = parser.parse_args(arguments)
    slugs = given.issues or [slug for slug in LARGER_MODELS if read_scaled(ISSUES[slug], given.write) is None]
    with multiprocessing.get_context("spawn").Pool(given.processes) as pool:
        for slug in slugs:
            issue, figure = ISSUES[slug], ISSUES[slug].key_figure
            (first, before), (second, after) = (measured(slug, row, pool) for row in (figure.before, figure.after))
            steps = TIMES_STEPS[slug] * max(
                issue.config(issue.arm(row.arm)).steps for row in (figure.before, figure.after)
            )
            marks = {row.arm: issue.fingerprint(issue.arm(row.arm)) for row in (figure.before, figure.after)}
            row = {"before": before, "after": after, "rates": [first, second], "steps": steps, "seeds": SEEDS}
            write(slug, {**row, "fingerprints": marks, "provenance": provenance()}, given.write)
            print(f"{slug}: {before}, {after} at rates {first:g}, {second:g}", flush=True)


def write(slug: str, row: dict[str, object], folder: Path) -> None:
    whole = {**rows(folder), slug: row}
    ordered = {name: whole[name] for name in LARGER_MODELS if name in whole}
    store_rows(folder / FILE, ordered, 1)


if __name__ == "__main__":
    main()

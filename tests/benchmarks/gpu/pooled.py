"""Many runs at once, through the worker pool: eight seeds beside one, a whole issue with eight seeds, and a class that presses Train."""

import statistics
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from engine.config.run_config import RunConfig, parse
from engine.experiments.issues import ISSUES
from engine.experiments.running.experiment_run import ExperimentRun
from engine.foundation.visitor import Visitor
from engine.runs.record_options import LEAST_RECORD
from engine.runs.request import RunRequest
from engine.workers.pool import Pool
from tests.benchmarks.gpu.nanogpt import Size
from tests.benchmarks.gpu.steps import setting_of
from tests.benchmarks.gpu.table import Notebook

SEEDS_PART, ISSUE_PART, CLASS_PART, ISSUE = "seeds", "issue", "class", "missing-mask"
STEP_OF = "one seed (ms per step)", "eight seeds (ms per step)"
ONE, EIGHT, SECONDS, FIRST = "one seed (s)", "eight seeds (s)", "seconds", "the first time (s)"
FIRST_POINT, PRESSED = "the last first point (s)", "visitors who press Train at once"
SEEDS = 8


def seconds(pool: Pool, configs: Iterable[RunConfig]) -> float:
    """Seconds from submitting runs, as trials, until the last has ended. Raises RuntimeError where one does not finish."""
    began = time.perf_counter()
    runs = [pool.submit(RunRequest(config, trial=True, record=LEAST_RECORD)) for config in configs]
    for run in runs:
        while run.live:
            run.wait_for(len(run.events) + 1)
        if run.state != "finished":
            raise RuntimeError(f"A run is {run.state}: {getattr(run.ending, 'reason', '')}")
    return time.perf_counter() - began


def measure_seeds(notes: Notebook, pool: Pool, size: Size, steps: int, device: str, repeats: int) -> None:
    """One seed and eight of them, in turns; each repeat has seeds of its own. A step's time, without start and end of the runs, is the
    difference to runs of three times as many steps."""
    config = setting_of(size, steps, device)

    def both() -> dict[str, float]:
        took: dict[int, list[float]] = {1: [], SEEDS: []}
        for repeat in range(repeats):
            for number, each in took.items():
                each.append(seconds(pool, [config.replace(seed=SEEDS * repeat + seed) for seed in range(number)]))
        longer = [config.replace(steps=3 * steps, seed=seed) for seed in range(SEEDS)]
        one, eight = map(statistics.median, took.values())
        further = seconds(pool, longer[:1]) - one, seconds(pool, longer) - eight
        each_step = (1e3 * more / (2 * steps) for more in further)
        return {ONE: one, EIGHT: eight, **dict(zip(STEP_OF, each_step, strict=True))}

    notes.measure(SEEDS_PART, str(size), EIGHT, both)


def issue_seconds(pool: Pool, device: str, seeds: int, changes: Mapping[str, object]) -> float:
    """Seconds from the press on Run until the last trial of the issue has ended. Raises RuntimeError where it does not finish."""
    issue = ISSUES[ISSUE]
    began = time.perf_counter()
    task = ExperimentRun(replace(issue, seeds=seeds, base={**issue.base, **changes, "device": device}), pool).start()
    task.wait()
    took = time.perf_counter() - began
    if task.state != "finished" or len(task.trials) != task.total or any(trial.outcome for trial in task.trials):
        raise RuntimeError(f"The issue is {task.state} with {len(task.trials)} of {task.total} trials: {task.problem}")
    return took


def issue_row(device: str, seeds: int) -> str:
    return f"{ISSUE}, {seeds} seeds, {'device auto' if device == 'auto' else 'on the device'}"


def measure_issue(
    notes: Notebook, pool: Pool, device: str, seeds: int, repeats: int, changes: Mapping[str, object]
) -> None:
    """The first time, in which workers may meet the device, and the median of further times."""

    def both() -> dict[str, float]:
        first, *others = [issue_seconds(pool, device, seeds, changes) for _ in range(1 + repeats)]
        return {FIRST: first, SECONDS: statistics.median(others)}

    notes.measure(ISSUE_PART, issue_row(device, seeds), SECONDS, both)


def measure_class(notes: Notebook, pool: Pool, device: str, number: int, changes: Mapping[str, object]) -> None:
    """The default run of each of so many visitors, who press Train at the same moment."""

    def points() -> dict[str, float]:
        began, firsts = time.perf_counter(), list[float]()
        config = parse({**changes, "device": device})
        visitors = [Visitor(f"visitor {each}", f"10.0.0.{each}") for each in range(number)]
        runs = [pool.submit(RunRequest(config.replace(seed=seed), one)) for seed, one in enumerate(visitors)]
        while any(run.live for run in runs):
            firsts += [time.perf_counter() - began for run in runs if run.step][len(firsts) :]
            time.sleep(0.005)
        if states := {run.state for run in runs} - {"finished"}:
            raise RuntimeError(f"Runs are {', '.join(states)}.")
        firsts += [time.perf_counter() - began] * (number - len(firsts))
        return {"visitors": number, FIRST_POINT: firsts[-1], "the last end (s)": time.perf_counter() - began}

    notes.measure(CLASS_PART, PRESSED, FIRST_POINT, points)

"""``issues``: the documented issues. ``issue``: run one, or all, over the worker pool, and weigh the evidence."""

from __future__ import annotations

import argparse
import math
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from rich.console import Console
from rich.progress import TimeRemainingColumn
from rich.table import Table

from engine.cli.cluster import add_scheduler, warm_pool
from engine.cli.terminal import POLL_SECONDS, follow, print_json, table
from engine.experiments.evidence.store import save
from engine.experiments.evidence.table import write_evidence
from engine.experiments.experiment import PILOT_SEEDS, Experiment
from engine.experiments.finding import Finding
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import GROUPS, Issue
from engine.experiments.rates import RateGrid, as_row, best_in_words, measured_grids, write_grids
from engine.experiments.report import Report
from engine.experiments.running import trial_cache
from engine.experiments.running.experiment_run import ExperimentRun
from engine.workers.pool import Pool


def list_issues(given: argparse.Namespace) -> int:
    if given.json:
        for issue in ISSUES.values():
            claims = [claim.sentence for claim in issue.claims]
            print_json({"slug": issue.slug, "group": issue.group, "title": issue.title, "claims": claims})
        return 0
    rows = (
        (
            issue.slug,
            GROUPS[issue.group],
            "\n".join(f"{claim.sentence} [dim]{claim.condition}[/]" for claim in issue.claims),
        )
        for issue in ISSUES.values()
    )
    Console().print(table("Documented issues", ("slug", "group", "claims"), rows, lines=True))
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("slug", nargs="?", metavar="SLUG", help="one of " + ", ".join(ISSUES))
    parser.add_argument("--all", action="store_true", help="every issue, then a table")
    parser.add_argument("--seeds", type=int, default=8, help="paired seeds, 1 to 16; default 8")
    parser.add_argument("--first-seed", type=int, default=0, help="the first of them; default 0")
    parser.add_argument("--extended", action="store_true", help="also the arms that take longer")
    parser.add_argument(
        "--rates", action="store_true",
        help=f"measure the grid of learning rates of each arm on the pilot seeds {PILOT_SEEDS[0]} to {PILOT_SEEDS[-1]}, and no claim",
    )  # fmt: skip
    parser.add_argument(
        "--write", type=Path, metavar="FOLDER", help="leave the evidence there as JSON and a table, or the grids"
    )
    add_scheduler(parser)


def run(given: argparse.Namespace) -> int:
    issues = [replace(issue, seeds=given.seeds, first_seed=given.first_seed) for issue in _asked_for(given)]
    reports: list[Report] = []
    if given.write:
        given.write.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=given.write).close()  # now, and not after the experiment: can anything be written there?
    with warm_pool(given.scheduler) as pool:
        began = time.monotonic()
        for issue in issues:
            if given.rates:
                _measure_rates(issue, pool, given)
                continue
            task = _run_to_end(issue, pool, given)
            save(task)
            reports.append(task.report)
            if given.write:
                write_evidence([task.report], given.write)
            if given.json:
                print_json(task.report.to_json())
            else:
                Console().print(claims_table(task.report))
        seconds = time.monotonic() - began
    if given.all and reports and not given.json:
        Console().print(summary_table(reports, seconds))
    return 0


def _run_to_end(experiment: Experiment, pool: Pool, given: argparse.Namespace) -> ExperimentRun:
    """Run an experiment with a bar, or with a line of JSON for each trial. Raises ValueError with the reason where it fails."""
    find, save_trial = partial(trial_cache.find, experiment), partial(trial_cache.save, experiment)
    task = ExperimentRun(experiment, pool, extended=given.extended, find=find, save=save_trial).start()
    if given.json:
        _follow_as_json(task)
    else:
        follow(task, experiment.slug, TimeRemainingColumn())
    if task.state == "failed":
        raise ValueError(task.problem)
    trial_cache.delete_oldest()
    return task


def _measure_rates(issue: Issue, pool: Pool, given: argparse.Namespace) -> None:
    """Measure the grids of an issue's arms, and write or print them."""
    grids = measured_grids(issue, lambda part: _run_to_end(part, pool, given).trials, given.extended)
    if given.write:
        write_grids(issue.slug, grids, given.write)
    if given.json:
        print_json(*({"event": "rates", "slug": issue.slug, **as_row(grid)} for grid in grids))
    else:
        Console().print(rates_table(issue, grids))


def _asked_for(given: argparse.Namespace) -> list[Issue]:
    """The issues that the arguments name. Raises ValueError."""
    if given.all == bool(given.slug):
        raise ValueError("name one issue, or --all.")
    if given.slug and given.slug not in ISSUES:
        raise ValueError(f"issue is {given.slug}; allowed is one of {', '.join(ISSUES)}.")
    return list(ISSUES.values()) if given.all else [ISSUES[given.slug]]


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


def claims_table(found: Report) -> Table:
    """A row for each claim: the effect with its interval, p with what Holm's correction makes of it, and the smallest effect worth naming
    with the size from which on an effect is found."""

    def beside(first: str, second: str) -> str:
        return f"{first}\n[dim]{second}[/]" if second else first

    rows = (
        (
            beside(claim.sentence, claim.condition),
            row.words,
            beside(
                "" if row.effect is None else f"{row.effect:+.3g} {claim.unit}",
                "" if row.ci is None or row.exact else f"{row.ci[0]:+.3g} to {row.ci[1]:+.3g}",
            ),
            "" if row.p is None else f"{row.p:.2g}\n[dim]{one.p_holm:.2g}[/]",
            beside(f"{claim.smallest_effect:g}", "" if row.detectable is None else f"{row.detectable:.2g}"),
        )
        for one, claim, row in ((one, one.claim, one.weighed) for one in found.claims)
    )
    seeds = f"seeds {found.seeds[0]} to {found.seeds[-1]}"
    title = f"{found.experiment.slug}: {found.claims[0].weighed.words} ({seeds}, {found.seconds:.0f} s)"
    heads = ("claim", "finding", "effect\n95 % interval", "p\np, Holm", "smallest\nfound from")
    return table(title, heads, rows, left=1, lines=True)


def rates_table(issue: Issue, grids: list[RateGrid]) -> Table:
    """A row for each arm: its chosen rate, and the mean score at each rate."""

    def scores(grid: RateGrid) -> str:
        means = {rate: abs(grid.mean(rate)) for rate in sorted(grid.scores)}
        return "  ".join(
            f"{rate:g}: " + (f"{mean:.3g}" if math.isfinite(mean) else "failed") for rate, mean in means.items()
        )

    rows = ((grid.arm, f"{grid.own:g}", best_in_words(grid), grid.metric, scores(grid)) for grid in grids)
    return table(
        f"{issue.slug}: the learning rate of each arm",
        ("arm", "own rate", "best rate", "score", "mean score at each rate"),
        rows,
    )


def summary_table(reports: list[Report], seconds: float) -> Table:
    def hold(found: Report) -> str:
        return f"{sum(claim.finding is Finding.HOLDS for claim in found.claims)} of {len(found.claims)}"

    rows = (
        (found.experiment.slug, found.claims[0].weighed.words, hold(found), f"{found.seconds:.0f}") for found in reports
    )
    return table(f"All issues, {seconds / 60:.1f} minutes", ("issue", "finding", "claims that hold", "seconds"), rows)

import argparse
import time
from dataclasses import replace

from rich.table import Table

from engine.cli.cluster import add_scheduler, warm_pool
from engine.cli.experiments import run_to_end
from engine.cli.terminal import console, print_json, table
from engine.experiments.finding import READERS_SEEDS, Finding
from engine.experiments.issues import ISSUES, RENAMED
from engine.experiments.issues.issue import GROUPS, Issue
from engine.experiments.long_findings import shipped_long_findings
from engine.experiments.report import Report
from engine.experiments.statistics import FEWEST_FOR_HOLM
from engine.settings.errors import ConfigError, not_one_of
from engine.settings.names import resolve_name


def list_issues(arguments: argparse.Namespace) -> int:
    if arguments.json:
        for issue in ISSUES.values():
            sentences = [claim.sentence for claim in issue.claims]
            print_json({"slug": issue.slug, "group": issue.group, "title": issue.title, "claims": sentences})
        return 0
    rows = []
    for issue in ISSUES.values():
        claims = "\n".join(f"{claim.sentence} [dim]{claim.condition}[/]" for claim in issue.claims)
        rows.append((issue.slug, GROUPS[issue.group], claims))
    console().print(table("Documented issues", ("slug", "group", "claims"), rows, lines=True))
    return 0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("slug", nargs="?", metavar="SLUG", help="one of " + ", ".join(ISSUES))
    parser.add_argument("--all", action="store_true", help="every issue, then a table")
    parser.add_argument(
        "--seeds", type=int, default=READERS_SEEDS, help=f"paired seeds, 1 to 16; default {READERS_SEEDS}"
    )
    parser.add_argument("--first-seed", type=int, default=0, help="the first seed; default 0")
    parser.add_argument("--extended", action="store_true", help="also run the arms that take longer")
    add_scheduler(parser)


def run(arguments: argparse.Namespace) -> int:
    issues = [
        replace(issue, seeds=arguments.seeds, first_seed=arguments.first_seed) for issue in _requested_issues(arguments)
    ]
    reports: list[Report] = []
    with warm_pool(arguments.scheduler) as pool:
        began = time.monotonic()
        for issue in issues:
            task = run_to_end(issue, pool, as_json=arguments.json, extended=arguments.extended)
            reports.append(task.report)
            found = shipped_long_findings(issue)
            if arguments.json:
                print_json(
                    {
                        **task.report.to_json(),
                        "long_runs": {claim: finding.to_json() for claim, finding in found.items()},
                    }
                )
                continue
            console().print(claims_table(task.report))
            for finding in found.values():
                console().print(f"Stored long runs: {finding.sentence}")
        seconds = time.monotonic() - began
    if arguments.all and not arguments.json:
        console().print(summary_table(reports, seconds))
    return 0


def _requested_issues(arguments: argparse.Namespace) -> list[Issue]:
    """Raises ValueError."""
    if arguments.all == bool(arguments.slug):
        raise ValueError("name one issue, or --all.")
    if arguments.all:
        return list(ISSUES.values())
    if (slug := resolve_name(arguments.slug, ISSUES, RENAMED)) not in ISSUES:
        raise ConfigError([not_one_of("issue", slug, ISSUES)])
    return [ISSUES[slug]]


def claims_table(report: Report) -> Table:
    """A row for each claim: the effect with its interval, p, with many seeds also corrected for the number of claims (Holm), and
    the smallest effect that counts with the size from which on an effect is found with a probability of about .8."""

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
            "" if row.p is None else beside(f"{row.p:.2g}", "" if one.p_holm is None else f"{one.p_holm:.2g}"),
            beside(f"{claim.smallest_effect:g}", "" if row.detectable is None else f"{row.detectable:.2g}"),
        )
        for one, claim, row in ((one, one.claim, one.weighed) for one in report.claims)
    )
    seeds = f"seeds {report.seeds[0]} to {report.seeds[-1]}"
    # an issue's finding is that of its first claim
    title = f"{report.experiment.slug}: {report.claims[0].weighed.words} ({seeds}, {report.seconds:.0f} s)"
    p = "p\np, Holm" if len(report.seeds) >= FEWEST_FOR_HOLM else "p"
    heads = ("claim", "finding", "effect\n95 % interval", p, "smallest\ndetectable")
    return table(title, heads, rows, left=1, lines=True)


def summary_table(reports: list[Report], seconds: float) -> Table:
    rows = []
    for report in reports:
        hold = f"{sum(claim.finding is Finding.HOLDS for claim in report.claims)} of {len(report.claims)}"
        rows.append((report.experiment.slug, report.claims[0].weighed.words, hold, f"{report.seconds:.0f}"))
    return table(f"All issues, {seconds / 60:.1f} minutes", ("issue", "finding", "claims that hold", "seconds"), rows)

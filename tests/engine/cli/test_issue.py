"""What ``issue`` prints for people: the findings in the words of the pages, and no p where there is nothing to weigh."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from engine.cli.issue import claims_table, summary_table
from engine.experiments.report import Report, report
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue


def found(seeds: int, short: float = 0.5, noise: float = 0.01) -> Report:
    trials = [
        Trial(arm, seed, {"loss": loss})
        for seed in range(seeds)
        for arm, loss in (("short", short + noise * (seed % 2)), ("long", 0.1))
    ]
    return report(fake_issue(), trials, range(seeds), seconds=12)


def printed(table: Table) -> str:
    console = Console(width=200)
    with console.capture() as said:
        console.print(table)
    return said.get()


def test_claims_are_told_in_the_words_of_the_pages_and_what_is_alike_without_interval_and_p() -> None:
    said = printed(claims_table(found(6)))
    assert "fake: Holds (seeds 0 to 5, 12 s)" in said
    assert "0.0312" in said
    assert "fake: The opposite holds" in printed(claims_table(found(6, short=-0.3)))
    assert "Undecided (needs at least six seeds)" in printed(claims_table(found(5)))

    said = printed(claims_table(found(6, noise=0.0)))
    assert "+0.4 nats" in said
    assert "0.0312" not in said
    assert "+0.4 to" not in said


def test_the_summary_counts_the_claims_that_hold() -> None:
    (line,) = [line for line in printed(summary_table([found(6, short=-0.3)], 60)).splitlines() if "fake" in line]
    assert "The opposite holds" in line
    assert "1 of 2" in line

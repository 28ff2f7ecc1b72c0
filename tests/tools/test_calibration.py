"""The calibration counts, over two sets of eight fresh seeds, how often a shown finding comes again."""

from collections.abc import Iterable
from pathlib import Path

from engine.experiments.evidence.shipped import sets_of_seeds, shipped_report, write_set
from engine.experiments.experiment import CONFIRMATORY_SEEDS, FRESH_SEEDS
from engine.experiments.finding import Finding
from engine.experiments.report import Report, report
from engine.experiments.trial import Trial
from tests.engine.experiments.fake_issue import fake_issue
from tools.calibration import calibration, repetitions


def fake(short: Iterable[float], seeds: range) -> Report:
    """Of trials whose short arm ends at these losses, and whose long one at .1."""
    trials = [Trial("short", seed, {"loss": loss}) for seed, loss in zip(seeds, short, strict=True)]
    trials += [Trial("long", seed, {"loss": 0.1}) for seed in seeds]
    return report(fake_issue(), trials, list(seeds))


def spread(mean: float, count: int) -> list[float]:
    return [mean + 0.02 * (index % 3 - 1) for index in range(count)]


def test_each_half_of_the_fresh_seeds_is_weighed_alone() -> None:
    shown = fake(spread(0.5, 16), CONFIRMATORY_SEEDS)
    rows = list(repetitions(shown, fake([*spread(0.5, 8), *spread(-0.3, 8)], FRESH_SEEDS)))
    short = rows[0]
    assert (short.predicted, short.finding) == (1.0, Finding.HOLDS)
    assert short.fresh == (Finding.HOLDS, Finding.OPPOSITE)
    assert (short.n_same, short.opposite) == (1, 1)


def test_the_table_counts_by_predicted_share(tmp_path: Path) -> None:
    fresh = fake([*spread(0.5, 8), *spread(-0.3, 8)], FRESH_SEEDS)
    shown = fake(spread(0.5, 16), CONFIRMATORY_SEEDS)
    write_set([fresh], tmp_path)
    (measured,) = sets_of_seeds(tmp_path)
    assert shipped_report(fake_issue(), measured) is not None
    table = calibration([shown], measured)
    assert "| 0 to 0.5 | 0 | | | |" in table
    assert "| 0.99 to 1 | 1 | 100.0% | 50.0% of 2 | 1 |" in table
    assert table.splitlines()[-1] == "| all | 1 | 100.0% | 50.0% of 2 | 1 |"

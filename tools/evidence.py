"""Measure the evidence that comes with a version, and write the table over it, ``engine/experiments/evidence/README.md``.

    python -m tools.evidence                                     write the table again from the stored numbers
    python -m tools.evidence SLUG --seeds 16 --first-seed 1000   measure an issue first; --all: every one
    python -m tools.evidence choice                              measure the table of Encodings, and count its text

Each trial is kept as it ends: after Ctrl-C the same command goes on where it was.

The finding is that of the confirmatory seeds alone, which were run once; sets that had been seen while claims were written stand beside it.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from engine.cli.cluster import add_scheduler, warm_pool
from engine.cli.experiments import run_to_end
from engine.experiments.benchmark.counting import write_counted
from engine.experiments.benchmark.criteria import CHOICE, SETS
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.shipped import (
    is_confirmatory,
    is_fresh,
    new_arms,
    sets_of_seeds,
    shipped_report,
    shown_report,
    write_set,
)
from engine.experiments.experiment import CONFIRMATORY_SEEDS, FRESH_SEEDS, PILOT_SEEDS, Experiment
from engine.experiments.finding import RULE, Finding, contradict
from engine.experiments.issues import ISSUES
from engine.experiments.long_findings import LongFinding, long_findings, shares
from engine.experiments.report import ClaimReport, Report
from engine.experiments.statistics import FEWEST_FOR_HOLM, LOWEST_P, POWER, holm
from engine.foundation.formatting import counted, listed, percent
from engine.foundation.provenance import Provenance
from tools.calibration import calibration
from tools.headroom import HIGHEST, LOWEST, headroom_table
from tools.rates import experiment_named

TEXT = Path(__file__).with_suffix(".md")  # the text around the table, with gaps to fill


def write_readme(folder: Path = FOLDER) -> None:
    (folder / "README.md").write_text(markdown(folder), encoding="utf-8")


def markdown(folder: Path = FOLDER) -> str:
    """The table over the sets of seeds in a folder, with the issues and claims of today: the finding of the
    confirmatory seeds, and next to it that of each other set. An issue without confirmatory seeds has a line that says
    so."""
    sets = sets_of_seeds(folder)
    commands = [
        f"- `{_command(s['seeds'])}`:"
        f" {sum(row['seconds'] for slug, row in s['issues'].items() if slug in ISSUES) / 60:.1f} minutes on {s['machine']}{_origins(s)}\n"
        for s in sets
    ]
    slugs = [slug for slug in ISSUES if any(slug in measured["issues"] for measured in sets)]
    reports = {slug: shown_report(ISSUES[slug], folder) for slug in slugs}
    rows = [row for each in reports.values() if each is not None for row in each.claims]
    of_long_runs = {
        slug: long_findings(ISSUES[slug], each, folder) for slug, each in reports.items() if each is not None
    }
    counts = " ".join(
        filter(
            None, (counts_in_words(rows), shares(chain.from_iterable(each.values() for each in of_long_runs.values())))
        )
    )
    corrected = iter(holm([row.weighed.p if row.weighed.seeds >= FEWEST_FOR_HOLM else None for row in rows]))
    known_seeds = [s for s in sets if not is_confirmatory(s["seeds"])]
    names = [f"{_kind(s['seeds'])}: seeds {s['seeds'][0]} to {s['seeds'][-1]}" for s in known_seeds]
    fresh = [calibration([each for each in reports.values() if each], s) for s in sets if is_fresh(s["seeds"])]
    columns = [
        "issue",
        "claim",
        "finding",
        "effect",
        "p",
        "Holm",
        "smallest",
        "found",
        "eight show it",
        "long runs",
        *names,
        "seconds",
    ]
    lines = ["| " + " | ".join(columns) + " |\n", "|--" * len(columns) + "|\n"]
    for slug, each in reports.items():
        beside = [shipped_report(ISSUES[slug], measured) for measured in known_seeds]
        if each is None:
            lines.append(f"| `{slug}` | not run on the confirmatory seeds{' |' * (len(columns) - 1)}\n")
        else:
            lines.extend(_lines(each, of_long_runs[slug], beside, corrected))
    return TEXT.read_text("utf-8").format(
        commands="".join(commands), rule=RULE, lowest_p=LOWEST_P, first=PILOT_SEEDS[0], last=PILOT_SEEDS[-1], power=POWER,
        confirmatory=f"{CONFIRMATORY_SEEDS[0]} to {CONFIRMATORY_SEEDS[-1]}", counts=counts,
        headroom=headroom_table([each for each in reports.values() if each is not None]), low=LOWEST, high=HIGHEST, table="".join(lines),
        fresh=f"{FRESH_SEEDS[0]} to {FRESH_SEEDS[-1]}", calibration="".join(fresh) or "They have not been run yet.\n",
    )  # fmt: skip


def _command(seeds: Sequence[int]) -> str:
    if is_fresh(seeds):
        return "python -m tools.fresh run"
    return f"python -m tools.evidence --all --seeds {len(seeds)} --first-seed {seeds[0]}"


def _kind(seeds: Sequence[int]) -> str:
    return "fresh" if is_fresh(seeds) else "seen"


def counts_in_words(rows: Sequence[ClaimReport]) -> str:
    measured = [row.finding for row in rows if not row.claim.computed]
    each = ", ".join(f"{one.words.lower()} {measured.count(one)}" for one in Finding)
    return f"Of {len(measured)} claims that were measured: {each}. {len(rows) - len(measured)} more are computed."


def _origins(measured: dict[str, Any]) -> str:
    """The origins of a set's numbers in words; empty for a set from before there was provenance. The JSON file names
    the commit of each."""
    rows = measured["issues"].values()
    origins = [origin for row in rows for origin in (row.get("provenance", {}), *row.get("moved", {}).values())]
    each = {
        name: sorted({origin[name] for origin in origins if origin.get(name)}) for name in Provenance.__annotations__
    }
    if not each["commit"]:
        return ""
    days = " to ".join(dict.fromkeys((each["date"][0], each["date"][-1])))
    return f"; torch {listed(each['torch'])}, {listed(each['processor'])}, {days}, {counted(len(each['commit']), 'commit')}"


def _lines(
    report: Report,
    of_long_runs: Mapping[str, LongFinding],
    known_seeds: Sequence[Report | None],
    corrected: Iterator[float | None],
) -> Iterator[str]:
    """The lines of an issue; ``of_long_runs``: the findings of long runs by claim; ``known_seeds``: its report
    on each earlier set of seeds, if it was run; ``corrected``: the next p-values."""
    for index, row in enumerate(report.claims):
        claim, weighed = row.claim, row.weighed
        each = [
            {one.claim.id: one for one in earlier.claims}.get(claim.id) if earlier else None for earlier in known_seeds
        ]
        finding = f"{row.finding.words}{', computed' if claim.computed else ''}"
        sentence = f"{claim.sentence} *{claim.condition}*" if claim.condition else claim.sentence
        interval = f" ({weighed.ci[0]:+.3g} to {weighed.ci[1]:+.3g})" if weighed.ci and not weighed.exact else ""
        cells = [
            f"`{report.experiment.slug}`" if index == 0 else "",
            sentence.replace("|", "\\|"),
            (f"**{finding}**" if index == 0 else finding)
            + (f": {weighed.why}" if row.finding is Finding.CANNOT_TELL else ""),
            "no value" if weighed.effect is None else f"{weighed.effect:+.3g} {claim.unit}{interval}",
            _short(weighed.p),
            _short(next(corrected)),
            f"{claim.smallest_effect:g}",
            _short(weighed.detectable),
            "" if (again := report.reproducibility(row)) is None else percent(again),
            of_long_runs[claim.id].sentence if claim.id in of_long_runs else "",
            *(_alone(one, row.finding) for one in each),
            f"{report.seconds:.0f}" if index == 0 else "",
        ]
        yield "| " + " | ".join(cells) + " |\n"


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:.2g}"


def _alone(claim: ClaimReport | None, confirmatory: Finding) -> str:
    if claim is None or not claim.weighed.seeds:
        return "not run"
    sentence = f"{claim.weighed.words}: {claim.weighed.effect:+.3g}"
    return f"**contradicts** {sentence}" if contradict(claim.finding, confirmatory) else sentence


def on_seeds(experiment: Experiment, first_seed: int, seeds: int) -> list[Experiment]:
    if experiment.slug == CHOICE.slug:
        return [replace(experiment, first_seed=first) for first in SETS]
    return [replace(experiment, seeds=seeds, first_seed=first_seed)]


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiments", nargs="*", metavar="SLUG", type=experiment_named)
    parser.add_argument("--all", action="store_true", help="every issue")
    parser.add_argument("--seeds", type=int, default=len(CONFIRMATORY_SEEDS))
    parser.add_argument("--first-seed", type=int, default=CONFIRMATORY_SEEDS[0])
    parser.add_argument("--extended", action="store_true", help="also the arms that take longer")
    parser.add_argument("--only-new", action="store_true", help="only the arms of which there are no numbers yet")
    parser.add_argument(
        "--write", type=Path, default=FOLDER, metavar="FOLDER", help="where to write the numbers and the table"
    )
    add_scheduler(parser)
    given = parser.parse_args(arguments)
    given.write.mkdir(parents=True, exist_ok=True)
    if chosen := ISSUES.values() if given.all else given.experiments:
        with warm_pool(given.scheduler) as pool:
            for experiment in (one for each in chosen for one in on_seeds(each, given.first_seed, given.seeds)):
                if given.only_new:
                    experiment = replace(experiment, arms=new_arms(experiment, given.write))
                task = run_to_end(experiment, pool, as_json=False, extended=given.extended)
                write_set([task.report], given.write, only_new=given.only_new)
                if experiment.slug == CHOICE.slug:
                    write_counted(given.write)
    write_readme(given.write)


if __name__ == "__main__":
    main()

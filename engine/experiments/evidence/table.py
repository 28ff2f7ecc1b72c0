"""The evidence in a folder as a Markdown table over all its sets of seeds; ``python -m engine.experiments.evidence.table`` writes it anew.

Designs are fixed on one set of seeds and checked once on another. Where the two sets disagree on a claim, the table says
undecided, whatever each set says alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.experiments.evidence.shipped import FOLDER, sets_of_seeds, shipped_report, write_set
from engine.experiments.finding import RULE, agreed
from engine.experiments.issues import ISSUES
from engine.experiments.report import ClaimReport, Report
from engine.experiments.statistics import LOWEST_P

HEAD = """# Evidence

Every documented issue as a controlled experiment, written by the commands that measured it:

"""
RULES = f"""
{RULE}

{LOWEST_P} Where every seed has the same effect, as where things are
counted, the table has neither interval nor p.

The first set of seeds froze the designs, the second was run once. Where the two disagree, a claim is undecided until the design is
better. An issue's finding is that of its first claim, in bold. The JSON files hold what was measured: the numbers of each arm by seed,
and the effects of claims behind which more numbers lie. `python -m engine.experiments.evidence.table` writes this page from them.
"""


def write_evidence(reports: Sequence[Report], folder: Path) -> None:
    """Write the numbers of reports on the same seeds into the folder, and its README again from all sets of seeds in it."""
    write_set(reports, folder)
    write_readme(folder)


def write_readme(folder: Path = FOLDER) -> None:
    """Write the folder's README again from the JSON files in it."""
    (folder / "README.md").write_text(markdown(folder), encoding="utf-8")


def markdown(folder: Path = FOLDER) -> str:
    """The table over all sets of seeds in a folder, with the issues and claims of the last set."""
    sets = sets_of_seeds(folder)
    commands = [
        f"- `python -m engine issue --all --seeds {len(s['seeds'])} --first-seed {s['seeds'][0]} --write engine/experiments/evidence`:"
        f" {sum(row['seconds'] for row in s['issues'].values()) / 60:.1f} minutes on {s['machine']}\n"
        for s in sets
    ]
    names = [f"seeds {s['seeds'][0]} to {s['seeds'][-1]}" for s in sets]
    columns = ["issue", "claim", "finding", *names, "smallest", "seconds"]
    lines = ["| " + " | ".join(columns) + " |\n", "|--" * len(columns) + "|\n"]
    for slug in sets[-1]["issues"]:
        lines.extend(_lines([shipped_report(ISSUES[slug], measured) for measured in sets]))
    return HEAD + "".join(commands) + RULES + "\n" + "".join(lines)


def _lines(same: Sequence[Report | None]) -> Iterator[str]:
    """The lines of an issue; ``same``: its report on each set of seeds, None where it was not run."""
    last = same[-1]
    assert last is not None
    seconds = " / ".join(f"{report.seconds:.0f}" for report in same if report is not None)
    for place, claim in enumerate(row.claim for row in last.claims):
        each = [report.claims[place] if report and place < len(report.claims) else None for report in same]
        finding = agreed(other.finding if other else None for other in each).words
        sentence = f"{claim.sentence} *{claim.condition}*" if claim.condition else claim.sentence
        cells = [
            f"`{last.experiment.slug}`" if place == 0 else "",
            sentence.replace("|", "\\|"),
            f"**{finding}**" if place == 0 else finding,
            *(_numbers(other) for other in each),
            f"{claim.smallest_effect:g}",
            seconds if place == 0 else "",
        ]
        yield "| " + " | ".join(cells) + " |\n"


def _numbers(claim: ClaimReport | None) -> str:
    """The finding of one set of seeds and the numbers behind it."""
    if claim is None:
        return "not run"
    row = claim.weighed
    if row.effect is None:
        return f"{row.words}: no value"
    interval = f" ({row.ci[0]:+.3g} to {row.ci[1]:+.3g})" if row.ci and not row.exact else ""
    p = "" if row.p is None or row.exact else f", p {row.p:.2g}"
    return f"{row.words}: {row.effect:+.3g} {claim.claim.unit}{interval}{p}"


if __name__ == "__main__":
    write_readme()

"""Measured evidence as files: the reports of one set of seeds as JSON, and a Markdown table over all sets in a folder.

Designs are fixed on one set of seeds and checked once on another. Where the two sets disagree on a claim, the table says
undecided, whatever each set says alone. The table has the words of today (:mod:`engine.experiments.finding`, and each claim's
own sentence); the JSON keeps those it was written with. ``python -m engine.experiments.table`` writes the table anew.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from engine.experiments.finding import FINDINGS, LOWEST_P, agreed, in_words
from engine.experiments.issues import ISSUES
from engine.experiments.published import FOLDER
from engine.experiments.report import ClaimReport, Report, in_todays_words

HEAD = """# Evidence

Every documented issue as a controlled experiment, written by the commands that measured it:

"""
RULES = f"""
A claim *{FINDINGS["holds"].lower()}* where the 95 % interval (paired t) excludes zero on the claimed side, the exact sign-flip p is
below .05 and the effect is at least the smallest worth naming, which was declared before the run. *{FINDINGS["opposite"]}* where
all of that is so on the other side. Else there is *{FINDINGS["none"].lower()}* where
the whole interval lies below that size on the claimed side. All other claims are *{FINDINGS["undecided"].lower()}*.

{LOWEST_P} Where every seed has the same effect, as where things are
counted, the table has neither interval nor p.

The first set of seeds froze the designs, the second was run once. Where the two disagree, a claim is undecided until the design is
better. An issue's finding is that of its first claim, in bold. Claims have their sentences of today, in the place of those in the
JSON, which stays as it was measured; `python -m engine.experiments.table` writes this page from it.
"""


def write_evidence(reports: Sequence[Report], folder: Path) -> None:
    """Write the reports to ``seeds-<first>.json``, replacing earlier ones on the same issues, and write the folder's README
    again from all such files in it."""
    folder.mkdir(parents=True, exist_ok=True)
    seeds = reports[0].seeds
    file = folder / f"seeds-{seeds[0]}.json"
    earlier = json.loads(file.read_text("utf-8"))["reports"] if file.exists() else []
    by_slug = {report["slug"]: report for report in [*earlier, *(report.to_json() for report in reports)]}
    row = {
        "seeds": seeds,
        "machine": f"{os.cpu_count()} CPU cores, {platform.machine()}",
        "reports": sorted(by_slug.values(), key=lambda report: list(ISSUES).index(report["slug"])),
    }
    file.write_text(json.dumps(row, indent=1, allow_nan=False) + "\n", encoding="utf-8")
    write_readme(folder)


def write_readme(folder: Path = FOLDER) -> None:
    """Write the folder's README again from the JSON files in it."""
    (folder / "README.md").write_text(markdown(folder), encoding="utf-8")


def markdown(folder: Path = FOLDER) -> str:
    """The table over all sets of seeds in a folder, with the issues and claims of the last set."""
    sets = [json.loads(file.read_text("utf-8")) for file in folder.glob("seeds-*.json")]
    sets.sort(key=lambda measured: measured["seeds"][0])
    commands = [
        f"- `python -m engine issue --all --seeds {len(s['seeds'])} --first-seed {s['seeds'][0]} --write engine/experiments/evidence`:"
        f" {sum(report['seconds'] for report in s['reports']) / 60:.1f} minutes on {s['machine']}\n"
        for s in sets
    ]
    names = [f"seeds {s['seeds'][0]} to {s['seeds'][-1]}" for s in sets]
    columns = ["issue", "claim", "finding", *names, "smallest", "seconds"]
    lines = ["| " + " | ".join(columns) + " |\n", "|--" * len(columns) + "|\n"]
    for slug in [report["slug"] for report in sets[-1]["reports"]]:
        lines.extend(_lines(slug, [_report(measured, slug) for measured in sets]))
    return HEAD + "".join(commands) + RULES + "\n" + "".join(lines)


def _lines(slug: str, same: Sequence[Report | None]) -> Iterator[str]:
    """The lines of an issue; ``same``: its report on each set of seeds, None where it was not run. Claims are the same by their
    place."""
    last = same[-1]
    assert last is not None
    seconds = " / ".join(f"{report.seconds:.0f}" for report in same if report is not None)
    for place, claim in enumerate(last.claims):
        each = [report.claims[place] if report and place < len(report.claims) else None for report in same]
        finding = FINDINGS[agreed([other.finding if other else None for other in each])]
        sentence = f"{claim.claim} *{claim.condition}*" if claim.condition else claim.claim
        cells = [
            f"`{slug}`" if place == 0 else "",
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
    row, words = claim.weighed, in_words(claim.finding, claim.weighed.seeds)
    if row.effect is None:
        return f"{words}: no value"
    interval = f" ({row.ci[0]:+.3g} to {row.ci[1]:+.3g})" if row.ci and not row.exact else ""
    p = "" if row.p is None or row.exact else f", p {row.p:.2g}"
    return f"{words}: {row.effect:+.3g} {claim.unit}{interval}{p}"


def _report(measured: dict[str, Any], slug: str) -> Report | None:
    """The report on an issue in a set of seeds, in the words of today where the issue still has these arms and claims."""
    row = next((report for report in measured["reports"] if report["slug"] == slug), None)
    if row is None:
        return None
    found = Report.from_json(row)
    return in_todays_words(ISSUES[slug], found) or found


if __name__ == "__main__":
    write_readme()

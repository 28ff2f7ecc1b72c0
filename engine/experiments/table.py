"""Measured evidence as files: the reports of one set of seeds as JSON, and a Markdown table over all sets in a folder.

Designs are fixed on one set of seeds and checked once on another. Where the two sets disagree on a claim, the table says
inconclusive, whatever each set says alone.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from engine.experiments.issues import ISSUES
from engine.experiments.report import Report

HEAD = """# Evidence

Every documented issue as a controlled experiment, written by the commands that measured it:

"""
RULES = """
A claim is *shown* where the 95 % interval (paired t) excludes zero in the claimed direction, the exact sign-flip p is below
.05 and the effect is at least the smallest worth naming, which was declared beforehand; *not shown* where the interval lies
below that size or the effect is significant the other way; else *inconclusive*. The first set of seeds froze the designs, the
second was run once. Where the two disagree, the verdict is inconclusive until the design is better. An issue's verdict is that
of its first claim.
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
    sets = [json.loads(file.read_text("utf-8")) for file in folder.glob("seeds-*.json")]
    sets.sort(key=lambda other: other["seeds"][0])
    (folder / "README.md").write_text(markdown(sets), encoding="utf-8")


def markdown(sets: Sequence[dict[str, Any]]) -> str:
    """The table over all sets of seeds, with the issues and claims of the last set."""
    commands = [
        f"- `python -m engine issue --all --seeds {len(s['seeds'])} --first-seed {s['seeds'][0]} --write engine/experiments/evidence`:"
        f" {sum(report['seconds'] for report in s['reports']) / 60:.1f} minutes on {s['machine']}\n"
        for s in sets
    ]
    names = [f"seeds {s['seeds'][0]} to {s['seeds'][-1]}" for s in sets]
    columns = ["issue", "claim", "verdict", *names, "smallest", "seconds"]
    lines = ["| " + " | ".join(columns) + " |\n", "|--" * len(columns) + "|\n"]
    for found in sets[-1]["reports"]:
        same = [_report(s, found["slug"]) for s in sets]
        for claim in found["claims"]:
            lines.append(_line(found, claim, same, first=claim is found["claims"][0]))
    return HEAD + "".join(commands) + RULES + "\n" + "".join(lines)


def agreed(verdicts: Sequence[str | None]) -> str:
    """The common verdict of several sets of seeds; "inconclusive" where they disagree."""
    known = {verdict for verdict in verdicts if verdict is not None}
    return known.pop() if len(known) == 1 else "inconclusive"


def _line(found: dict[str, Any], claim: dict[str, Any], same: Sequence[dict[str, Any] | None], *, first: bool) -> str:
    each = [_claim(report, claim["claim"], claim["condition"]) for report in same]
    verdict = agreed([other["verdict"] if other else None for other in each])
    sentence = f"{claim['claim']} *{claim['condition']}*" if claim["condition"] else claim["claim"]
    seconds = [f"{report['seconds']:.0f}" for report in same if report]
    cells = [
        f"`{found['slug']}`" if first else "",
        sentence.replace("|", "\\|"),
        f"**{verdict}**" if first else verdict,
        *(_numbers(other) for other in each),
        f"{claim['smallest_effect']:g}",
        " / ".join(seconds) if first else "",
    ]
    return "| " + " | ".join(cells) + " |\n"


def _numbers(claim: dict[str, Any] | None) -> str:
    if claim is None:
        return "not run"
    if claim["effect"] is None:
        return f"{claim['verdict']}: no value"
    interval = f" ({claim['ci'][0]:+.3g} to {claim['ci'][1]:+.3g})" if claim["ci"] else ""
    p = "" if claim["p"] is None else f", p {claim['p']:.2g}"
    return f"{claim['verdict']}: {claim['effect']:+.3g} {claim['unit']}{interval}{p}"


def _report(measured: dict[str, Any], slug: str) -> dict[str, Any] | None:
    return next((report for report in measured["reports"] if report["slug"] == slug), None)


def _claim(report: dict[str, Any] | None, sentence: str, condition: str) -> dict[str, Any] | None:
    claims = report["claims"] if report else []
    return next((c for c in claims if (c["claim"], c["condition"]) == (sentence, condition)), None)

"""Measured evidence as a Markdown table, written by the command that measured it."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from pathlib import Path

from engine.evidence.report import ClaimReport, Report

HEAD = "| issue | claim | verdict | effect | 95 % interval | p | smallest | seconds |\n|--|--|--|--|--|--|--|--|\n"


def write_table(reports: Sequence[Report], file: Path, seconds: float) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(markdown(reports, seconds), encoding="utf-8")


def markdown(reports: Sequence[Report], seconds: float) -> str:
    seeds = reports[0].seeds
    found = (
        f"# Measured: seeds {seeds[0]} to {seeds[-1]}\n\n"
        f"Written by `python -m engine issue --all --seeds {len(seeds)} --first-seed {seeds[0]} --write FILE`"
        f" on {os.cpu_count()} CPU cores ({platform.machine()}) in {seconds / 60:.1f} minutes. An issue's verdict is that of its"
        " first claim.\n\n"
    )
    rows = [_row(report, claim, place) for report in reports for place, claim in enumerate(report.claims)]
    return found + HEAD + "".join(rows)


def _row(report: Report, claim: ClaimReport, place: int) -> str:
    row = claim.weighed
    sentence = f"{claim.claim} *{claim.condition}*" if claim.condition else claim.claim
    cells = (
        f"`{report.slug}`" if place == 0 else "",
        sentence.replace("|", "\\|"),
        f"**{row.verdict}**" if place == 0 else row.verdict,
        "" if row.effect is None else f"{row.effect:+.3g} {claim.unit}",
        "" if row.ci is None else f"{row.ci[0]:+.3g} to {row.ci[1]:+.3g}",
        "" if row.p is None else f"{row.p:.2g}",
        f"{claim.smallest_effect:g}",
        f"{report.seconds:.0f}" if place == 0 else "",
    )
    return "| " + " | ".join(cells) + " |\n"

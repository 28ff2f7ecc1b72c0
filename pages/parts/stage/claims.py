"""Findings and claims of an experiment as shown: icon and colour, numbers, and a figure of the effect."""

from typing import Literal

from engine.experiments.finding import Finding
from engine.experiments.report import ClaimReport
from pages.parts.boards.component import Plain
from pages.parts.charts.base import plain_figure
from pages.parts.charts.experiments.strip import effect_figure, effect_height
from pages.parts.stage.shown import Shown

Color = Literal["gray", "blue", "green", "orange", "red"]
LOOKS: dict[Finding, tuple[str, Color]] = {
    Finding.HOLDS: (":material/check_circle:", "green"),
    Finding.OPPOSITE: (":material/swap_horiz:", "red"),
    Finding.SMALL: (":material/drag_handle:", "orange"),
    Finding.CANNOT_TELL: (":material/visibility_off:", "gray"),
    Finding.UNDECIDED: (":material/help:", "gray"),
}
ABOUT = {"issue": "the claim", "condition": "a condition", "remedy": "a remedy"}


def badge(finding: Finding, words: str) -> str:
    """The words as a badge in Markdown, with the finding's icon and colour."""
    icon, color = LOOKS[finding]
    return f":{color}-badge[{icon} {words}]"


def claims_section(shown: Shown) -> Plain:
    panels = [_claim_panel(shown, claim) for claim in shown.claims]
    return {
        "id": "claims", "title": "What the evidence says",
        "note": "Dot and whiskers: the mean effect over paired seeds and its 95 % interval; ticks: each seed. Shaded: effects at "
        "least as large as the smallest that counts, declared beforehand.",
        "panels": panels, "width": 420,
    }  # fmt: skip


def _claim_panel(shown: Shown, found: ClaimReport) -> Plain:
    claim, row, name = found.claim, found.weighed, f"claim.{found.claim.id}"
    facts = _facts_of(found)
    lines = [f"Condition: {claim.condition}"] if claim.condition else []
    if row.finding is Finding.CANNOT_TELL:
        lines.append(f"Why: {row.why}")
    chip, tone = "Waiting for seeds", ""  # no tone before there is a finding
    if shown.state != "running":
        chip, tone = (row.words, row.finding) if row.seeds else ("Not measured", "")
    elif row.seeds > 1:
        chip, tone = f"So far: {row.finding.words.lower()}", row.finding
    return {
        "id": name, "title": claim.sentence, "chip": chip, "chip_tone": tone,
        "kind": f"{ABOUT[claim.about]}, computed" if claim.computed else ABOUT[claim.about],
        "height": effect_height(claim.unit), "lines": lines,
        "facts": facts,
        "alt": f"{claim.sentence} {chip}. " + ", ".join(facts),
        "figure": plain_figure(
            effect_figure, found.effects, row.effect, row.ci, claim.smallest_effect, claim.direction, claim.unit
        ),
    }  # fmt: skip


def _facts_of(found: ClaimReport) -> list[str]:
    """The effect in numbers. Interval and p stand in the table of the claims."""
    claim, row = found.claim, found.weighed
    sign = "" if claim.direction == "more" else "−"
    effect = [] if row.effect is None else [f"effect {signed(row.effect)} {claim.unit}"]
    return [*effect, f"counts from {sign}{claim.smallest_effect:g}", f"seeds {row.seeds}"]


def signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−")

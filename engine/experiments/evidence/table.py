"""The evidence in a folder as a Markdown table over all its sets of seeds; ``python -m engine.experiments.evidence.table`` writes it anew.

Designs are fixed on one set of seeds and checked once on another. The finding is that of all seeds together, and the sets stand beside it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.shipped import finding_of, pooled_report, sets_of_seeds, shipped_report, write_set
from engine.experiments.experiment import PILOT_SEEDS
from engine.experiments.finding import RULE
from engine.experiments.issues import ISSUES
from engine.experiments.report import ClaimReport, Report
from engine.experiments.statistics import LOWEST_P, POWER, holm

TEXT = Path(__file__).with_suffix(".md")
"""The text around the table, with gaps to fill."""


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
        f" {sum(row['seconds'] for slug, row in s['issues'].items() if slug in ISSUES) / 60:.1f} minutes on {s['machine']}\n"
        for s in sets
    ]
    slugs = [slug for slug in ISSUES if any(slug in measured["issues"] for measured in sets)]
    pooled = [found for slug in slugs if (found := pooled_report(ISSUES[slug], folder)) is not None]
    corrected = iter(holm([row.weighed.p for found in pooled for row in found.claims]))
    names = [f"seeds {s['seeds'][0]} to {s['seeds'][-1]}" for s in sets]
    columns = ["issue", "claim", "finding", "all seeds", "p", "Holm", *names, "smallest", "found", "seconds"]
    lines = ["| " + " | ".join(columns) + " |\n", "|--" * len(columns) + "|\n"]
    for found in pooled:
        each = [shipped_report(found.experiment, measured) for measured in sets]
        lines.extend(_lines(found, each, corrected))
    return TEXT.read_text("utf-8").format(
        commands="".join(commands), rule=RULE, lowest_p=LOWEST_P, first=PILOT_SEEDS[0], last=PILOT_SEEDS[-1], power=POWER,
        table="".join(lines),
    )  # fmt: skip


def _lines(pooled: Report, sets: Sequence[Report | None], corrected: Iterator[float | None]) -> Iterator[str]:
    """The lines of an issue; ``sets``: its report on each set of seeds, None where it was not run; ``corrected``: the next p-values."""
    seconds = " / ".join(f"{found.seconds:.0f}" for found in sets if found is not None)
    for place, row in enumerate(pooled.claims):
        claim, weighed = row.claim, row.weighed
        each = [{one.claim.id: one for one in found.claims}.get(claim.id) if found else None for found in sets]
        finding = finding_of(row, (found for found in sets if found is not None)).words
        sentence = f"{claim.sentence} *{claim.condition}*" if claim.condition else claim.sentence
        interval = f" ({weighed.ci[0]:+.3g} to {weighed.ci[1]:+.3g})" if weighed.ci and not weighed.exact else ""
        cells = [
            f"`{pooled.experiment.slug}`" if place == 0 else "",
            sentence.replace("|", "\\|"),
            f"**{finding}**" if place == 0 else finding,
            "no value" if weighed.effect is None else f"{weighed.effect:+.3g} {claim.unit}{interval}",
            _short(weighed.p),
            _short(next(corrected)),
            *(_alone(one) for one in each),
            f"{claim.smallest_effect:g}",
            _short(weighed.detectable),
            seconds if place == 0 else "",
        ]
        yield "| " + " | ".join(cells) + " |\n"


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:.2g}"


def _alone(claim: ClaimReport | None) -> str:
    """The finding of one set of seeds and its effect."""
    if claim is None:
        return "not run"
    effect = claim.weighed.effect
    return f"{claim.weighed.words}: " + ("no value" if effect is None else f"{effect:+.3g}")


if __name__ == "__main__":
    write_readme()

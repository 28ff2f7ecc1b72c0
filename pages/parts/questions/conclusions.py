"""What was found, in words: in short and in numbers below the map, one sentence on each of its tiles, and all sentences on a
question's own page. Each ends in the numbers of its claim, and before one that does not hold stands what was found."""

from collections.abc import Iterator, Mapping

from engine.experiments.answer import ANSWER, Paragraph, Statement, claim_of, statements
from engine.experiments.evidence.shipped import ShippedClaim, shipped_claims
from engine.experiments.finding import Finding, contradict
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import ZERO, number
from engine.experiments.speed_finding import shipped_speeds
from engine.foundation.formatting import counted, listed
from engine.foundation.once import once
from pages.parts.app.in_markdown import escaped
from pages.parts.experiments.panels import badge, signed

NATS = "nats"
IN_SHORT: Mapping[Finding | None, str] = {
    Finding.OPPOSITE: "The opposite was found",
    Finding.SMALL: "Too small to count here",
    Finding.CANNOT_TELL: "These runs cannot tell",
    Finding.UNDECIDED: "Not decided",
    None: "Not measured",
}
"""The words before a statement that does not hold, by its finding."""


@once
def claims_of(slug: str) -> tuple[ShippedClaim, ...]:
    """The claims of an issue as the shipped evidence weighs them."""
    return tuple(shipped_claims(ISSUES[slug]))


@once
def speeds_of(slug: str) -> dict[str, str]:
    """By claim, the sentence on whether its contrast is a limit or a matter of speed; empty without long runs."""
    return {claim: found.sentence for claim, found in shipped_speeds(ISSUES[slug]).items()}


def evidence_for(statement: Statement) -> ShippedClaim | None:
    """The claim of a statement as the shipped evidence weighs it; None where it was not measured."""
    claim = claim_of(statement)
    return next((one for one in claims_of(statement.issue) if one.claim == claim), None)


def numbers(found: ShippedClaim, *, turned: bool = False) -> str:
    """The effect as two numbers, or where these were not stored as it is, and how many seeds agree with its sign."""
    seeds, unit = counted(found.weighed.seeds, "seed"), found.claim.unit
    over = f"over {seeds}" if found.finding is Finding.SMALL else f"in {found.agreeing} of {seeds}"
    if found.sides is None:
        return f"{signed(found.effect)} {escaped(unit)}, {over}"
    before, after = map(_written, reversed(found.sides) if turned else found.sides)
    return f"{before}\u00a0→\u00a0{after}{f' {NATS}' if unit.startswith(NATS) else ''} {over}"


def _written(value: float) -> str:
    return "0" if abs(value) < ZERO else number(value).replace("-", "−")


def in_words(statement: Statement) -> str:
    """The statement in Markdown, with its finding unless it holds, and its numbers."""
    found = evidence_for(statement)
    before = IN_SHORT.get(found.finding if found else None, "")
    parts = [
        f"**{before}:**" if before else "",
        statement.text,
        f":gray[{numbers(found, turned=statement.turned)}]" if found else "",
    ]
    if found and found.finding is Finding.CANNOT_TELL:
        parts.append(found.weighed.why)
    if found and any(contradict(found.finding, finding) for finding in found.known_seeds):
        parts.append(f"Seeds known before say otherwise: {', '.join(finding.words for finding in found.known_seeds)}.")
    return " ".join(filter(None, parts))


def conclusion(issue: Issue) -> str:
    """The statement that answers the issue's question, in Markdown; empty where the conclusions have none."""
    lead = (
        statement
        for statement in statements(ANSWER)
        if (statement.issue, statement.claim) == (issue.slug, issue.key_figure.claim)
    )
    return next(map(in_words, lead), "")


def findings(slug: str) -> str:
    """All statements on an issue, in Markdown, each paragraph with its subject; last, what its long runs say."""
    leads = [in_words(section.lead) for section in ANSWER if section.lead.issue == slug]
    paragraphs = (paragraph for section in ANSWER for paragraph in section.paragraphs)
    texts = (
        f"**{paragraph.about}** {' '.join(_of(slug, paragraph))}"
        for paragraph in paragraphs
        if any(_of(slug, paragraph))
    )
    return "\n\n".join(filter(None, [*leads, *texts, *map(escaped, speeds_of(slug).values())]))


def _of(slug: str, paragraph: Paragraph) -> Iterator[str]:
    """The statements of a paragraph on an issue, each with the plain sentences before it."""
    plain: list[str] = []
    for sentence in paragraph.sentences:
        if isinstance(sentence, str):
            plain.append(sentence)
            continue
        if sentence.issue == slug:
            yield from (*plain, in_words(sentence))
        plain = []


def in_short() -> str:
    """The answer to the question of the documents, of the sections whose statement holds."""
    holds = listed([f"where {one}" for one in _shorts().get(Finding.HOLDS, ["nothing was found"])], "or")
    return f"A deep stack goes wrong {holds}."


def in_doubt() -> str:
    """The expected answers that do not hold, each after its finding."""
    return " ".join(
        f"{IN_SHORT[finding]}: {'; '.join(shorts)}."
        for finding, shorts in _shorts().items()
        if finding is not Finding.HOLDS
    )


def _shorts() -> dict[Finding | None, list[str]]:
    shorts: dict[Finding | None, list[str]] = {}
    for section in ANSWER:
        found = evidence_for(section.lead)
        shorts.setdefault(found.finding if found else None, []).append(section.short)
    return shorts


def in_numbers() -> str:
    """The number of all claims, and of those with each finding."""
    claims = [claim for slug in ISSUES for claim in claims_of(slug)]
    found = [claim.finding for claim in claims if not claim.claim.computed]
    counts = " ".join(badge(one, f"{one.words}: {found.count(one)}") for one in Finding)
    others = len(claims) - len(found)
    computed = f" {others} more are computed: formulas, counts and theorems." if others else ""
    return f"**{len(found)} claims were measured**: {counts}{computed} Each is on its question's page."

"""The conclusions in words: in short and in numbers below the map, one sentence per tile, and all on a question's
page. Each ends in the numbers of its claim; a claim that does not hold starts with its finding."""

from collections.abc import Iterator, Mapping

from engine.experiments.conclusions import CONCLUSIONS, Paragraph, Statement, claim_of, statements
from engine.experiments.evidence.shipped import ShippedClaim, shipped_claims
from engine.experiments.finding import Finding, contradict
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import ZERO, number
from engine.experiments.long_findings import shipped_long_findings
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


@once
def claims_of(slug: str) -> tuple[ShippedClaim, ...]:
    return tuple(shipped_claims(ISSUES[slug]))


@once
def long_findings_of(slug: str) -> dict[str, str]:
    """By claim, the sentence of its long runs; empty without them."""
    return {claim: finding.sentence for claim, finding in shipped_long_findings(ISSUES[slug]).items()}


def evidence_for(statement: Statement) -> ShippedClaim | None:
    """The claim of a statement; None if it was not measured."""
    claim = claim_of(statement)
    return next((one for one in claims_of(statement.issue) if one.claim == claim), None)


def numbers(claim: ShippedClaim, *, turned: bool = False) -> str:
    """The effect as two numbers, or as one if those were not stored, and the number of seeds with its sign."""
    seeds, unit = counted(claim.weighed.seeds, "seed"), claim.claim.unit
    over = f"over {seeds}" if claim.finding is Finding.SMALL else f"in {claim.agreeing} of {seeds}"
    if claim.sides is None:
        return f"{signed(claim.effect)} {escaped(unit)}, {over}"
    before, after = map(_format, reversed(claim.sides) if turned else claim.sides)
    return f"{before}\u00a0→\u00a0{after}{f' {NATS}' if unit.startswith(NATS) else ''} {over}"


def _format(value: float) -> str:
    return "0" if abs(value) < ZERO else number(value).replace("-", "−")


def in_words(statement: Statement) -> str:
    claim = evidence_for(statement)
    before = IN_SHORT.get(claim.finding if claim else None, "")
    parts = [
        f"**{before}:**" if before else "",
        statement.text,
        f":gray[{numbers(claim, turned=statement.turned)}]" if claim else "",
    ]
    if claim and claim.finding is Finding.CANNOT_TELL:
        parts.append(claim.weighed.why)
    if claim and any(contradict(claim.finding, finding) for finding in claim.known_seeds):
        parts.append(
            f"Earlier seeds gave another finding: {', '.join(finding.words for finding in claim.known_seeds)}."
        )
    return " ".join(filter(None, parts))


def conclusion(issue: Issue) -> str:
    """The statement that answers the issue's question, in Markdown; empty without one."""
    lead = (
        statement
        for statement in statements(CONCLUSIONS)
        if (statement.issue, statement.claim) == (issue.slug, issue.key_figure.claim)
    )
    return next(map(in_words, lead), "")


def findings(slug: str) -> dict[str, str]:
    """The findings on an issue by heading, in Markdown. Those without a heading come first, under an empty one."""
    leads = [in_words(section.lead) for section in CONCLUSIONS if section.lead.issue == slug]
    texts: dict[str, list[str]] = {"": [*leads, *map(escaped, long_findings_of(slug).values())]}
    for paragraph in (paragraph for section in CONCLUSIONS for paragraph in section.paragraphs):
        texts.setdefault(paragraph.about.rstrip("."), []).extend(_of(slug, paragraph))
    return {about: ("\n\n" if not about else " ").join(found) for about, found in texts.items() if found}


def _of(slug: str, paragraph: Paragraph) -> Iterator[str]:
    """The statements of a paragraph on an issue, each after the plain sentences that lead to it."""
    plain: list[str] = []
    for sentence in paragraph.sentences:
        if isinstance(sentence, str):
            plain.append(sentence)
            continue
        if sentence.issue == slug:
            yield from (*plain, in_words(sentence))
        plain = []


def in_short() -> str:
    holds = listed([f"where {one}" for one in _shorts().get(Finding.HOLDS, ["nothing was found"])], "or")
    return f"A deep stack goes wrong {holds}."


def in_doubt() -> str:
    return " ".join(
        f"{IN_SHORT[finding]}: {'; '.join(shorts)}."
        for finding, shorts in _shorts().items()
        if finding is not Finding.HOLDS
    )


def _shorts() -> dict[Finding | None, list[str]]:
    shorts: dict[Finding | None, list[str]] = {}
    for section in CONCLUSIONS:
        claim = evidence_for(section.lead)
        shorts.setdefault(claim.finding if claim else None, []).append(section.short)
    return shorts


def in_numbers() -> str:
    claims = [claim for slug in ISSUES for claim in claims_of(slug)]
    measured = [claim.finding for claim in claims if not claim.claim.computed]
    counts = " ".join(badge(one, f"{one.words}: {measured.count(one)}") for one in Finding)
    others = len(claims) - len(measured)
    computed = f" {others} more follow from formulas, counts or theorems." if others else ""
    return f"**{len(measured)} claims were measured**: {counts}{computed} Each is on its question's page."

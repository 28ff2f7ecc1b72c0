"""The answer: in short, in numbers, and as blocks of one statement, one figure and one remedy, with further paragraphs behind them.
Statements end in a mark, a link that opens the issue in the reader's session."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import streamlit as st

from engine.experiments.answer import Paragraph, Section, Statement, claim_of, statements
from engine.experiments.evidence.shipped import ShippedClaim, shipped_claims, shipped_result
from engine.experiments.finding import Finding, contradict
from engine.experiments.issues import ISSUES
from engine.experiments.key_figure import ZERO, number
from engine.foundation.formatting import counted
from engine.foundation.once import once
from pages.parts.app.frame import listening_script, nothing
from pages.parts.app.in_markdown import escaped, with_terms
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.experiments.key_figure import key_figure
from pages.parts.experiments.panels import badge, signed
from pages.parts.experiments.shown import key_numbers

LINK = "#issue="
"""What a link to an issue begins with. Streamlit opens a link that leaves the page in a tab of its own; this one stays on the page, whose
script opens the issue (``links.js``), also where it was followed before the script was there."""
NATS = "nats"
FILE = "issues.py"
HERE = Path(__file__).parent
IN_SHORT: Mapping[Finding | None, str] = {
    Finding.OPPOSITE: "The opposite was found",
    Finding.SMALL: "Too small to count here",
    Finding.CANNOT_TELL: "These runs cannot tell",
    Finding.UNDECIDED: "Not decided",
    None: "Not measured",
}
"""The words before a statement that does not hold, by its finding."""


@once
def found_of(slug: str) -> tuple[ShippedClaim, ...]:
    """What the shipped evidence says about the claims of an issue."""
    return tuple(shipped_claims(ISSUES[slug]))


def found_for(statements: Statement) -> ShippedClaim | None:
    """What the shipped evidence says about a statement."""
    claim = claim_of(statements)
    return next((one for one in found_of(statements.issue) if one.claim == claim), None)


def prose(sections: Sequence[Section]) -> list[str]:
    """The paragraphs of each section, in Markdown; a term is linked where it stands first."""
    sentences = [one for section in sections for paragraph in section.paragraphs for one in paragraph.sentences]
    texts = iter(with_terms(*(one.text if isinstance(one, Statement) else one for one in sentences)))
    return ["\n\n".join(_paragraph(one, texts) for one in section.paragraphs) for section in sections]


def mark(statements: Statement) -> str:
    """The mark of a statement: its numbers, and the finding unless it holds, as a link to the issue. Who points at it sees the claim
    as it was tested. Empty where nothing was shipped."""
    claim, found = claim_of(statements), found_for(statements)
    if found is None:
        return ""
    tested = f"{claim.sentence} ({claim.condition})" if claim.condition else claim.sentence
    if found.finding is Finding.CANNOT_TELL:
        tested += f" {found.weighed.why}"
    if any(contradict(found.finding, finding) for finding in found.known_seeds):
        tested += (
            f" Seeds that were seen before say otherwise: {', '.join(finding.words for finding in found.known_seeds)}."
        )
    words = "" if found.finding is Finding.HOLDS else f"{badge(found.finding, found.finding.words)} "
    return f'[{words}{numbers(found, turned=statements.turned)}]({LINK}{statements.issue} "{tested}")'


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


def _paragraph(paragraph: Paragraph, texts: Iterator[str]) -> str:
    """``texts``: those of its sentences come next."""
    parts = [f"**{paragraph.about}**"]
    for sentence in paragraph.sentences:
        parts += [next(texts), mark(sentence)] if isinstance(sentence, Statement) else [next(texts)]
    return " ".join(filter(None, parts))


def follow_links() -> None:
    """Open the issue, or the map, whose link was followed. The prose stands in the container ``answer``."""
    with st.container(key="answer-links"):
        slug = listening_script(HERE / "links.js")(key="answer.links.script", on_issue_change=nothing).issue
    if slug is not None:
        st.switch_page(FILE, query_params={"issue": slug} if slug in ISSUES else {})


def in_short(sections: Sequence[Section]) -> str:
    """The answer in one sentence, of the sections whose statement holds; and in another what was expected and does not hold."""
    links: dict[Finding | None, list[str]] = {}
    for section in sections:
        links.setdefault(finding_of(section.lead), []).append(f"[{section.short}](#{section.anchor})")
    holds = ", or where ".join(links.pop(Finding.HOLDS, ["nothing was found"]))
    statements = [f"A stack of self-attention layers goes wrong where {holds}."]
    statements += [f"{IN_SHORT[finding]}: {'; '.join(those)}." for finding, those in links.items()]
    return f"**In short:** {' '.join(statements)}"


def lead_of(section: Section) -> str:
    """The sentence that answers for a section, as what was found lets it be told, with its mark."""
    before = IN_SHORT.get(finding_of(section.lead), "")
    return f"**{before}{': ' if before else ''}{section.lead.text}** {mark(section.lead)}"


def show_block(section: Section, paragraphs: str) -> None:
    """One section: its statement and the remedy beside the key figure of its issue; the paragraphs are folded."""
    issue = ISSUES[section.lead.issue]
    st.header(section.heading, anchor=section.anchor)
    words, drawn = st.columns([1, 1.4], gap="medium")
    words.markdown(lead_of(section))
    words.markdown(f"**What helps:** {issue.key_figure.remedy} [Run the experiment]({LINK}{issue.slug})")
    with drawn:
        panels(figures_of(issue.slug), key=f"answer.{issue.slug}", name=issue.slug)
    further = counted(len(list(statements([section]))) - 1, "more finding")
    st.expander(further, icon=":material/unfold_more:").markdown(paragraphs)


@once
def figures_of(slug: str) -> list[Panel]:
    """The key figure of an issue from the shipped evidence; an empty list where there is none."""
    issue, figure = ISSUES[slug], ISSUES[slug].key_figure
    found = shipped_result(issue, figure)
    if found is None:
        return []
    drawn = key_figure(**key_numbers(issue, found.report))
    return [Panel("answer.figure", figure.quantity, drawn, found.finding.sentence, 52 + 40 * len(figure.rows))]


def finding_of(statements: Statement) -> Finding | None:
    """The finding about a statement; None where it was not measured."""
    found = found_for(statements)
    return found.finding if found else None


def in_numbers() -> str:
    """The number of all claims, and of those with each finding."""
    claims = [claim for slug in ISSUES for claim in found_of(slug)]
    found = [claim.finding for claim in claims if not claim.claim.computed]
    counts = " ".join(badge(one, f"{one.words}: {found.count(one)}") for one in Finding)
    others = len(claims) - len(found)
    computed = f" {others} more are computed: formulas, counts and theorems." if others else ""
    return f"**{len(found)} claims were measured**: {counts}{computed} Each stands on its issue's page."

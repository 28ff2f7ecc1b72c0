"""The tabs below the first screen of a question, of which only the open one is computed, and the student's notes."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

import streamlit as st

from engine.experiments.evidence.shipped import shipped_reports, shipped_result
from engine.experiments.experiment import PILOT_SEEDS, PILOTS, Claim
from engine.experiments.finding import RULE
from engine.experiments.frames import published_frame
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFigure, KeyFinding
from engine.experiments.rates import RateGrid, best_in_words, read_grids
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.scaled import read_scaled
from engine.experiments.statistics import LOWEST_P
from engine.experiments.trained_depth import TrainedDepth, read_trained_depth
from engine.experiments.trial import Trial
from engine.foundation.formatting import counted
from pages.parts.app.frame import listening_script
from pages.parts.app.in_markdown import escaped, links_to_terms, with_terms
from pages.parts.app.visitor import mine
from pages.parts.boards.depth import depth_panels
from pages.parts.boards.panels import Panel, panels
from pages.parts.charts.colors import color_of
from pages.parts.charts.depth import DepthLine
from pages.parts.charts.experiments.arms import role_colors, with_unit
from pages.parts.charts.experiments.over_x import OverX, over_x_figure, over_x_height
from pages.parts.charts.experiments.stack import stack_svg
from pages.parts.charts.experiments.strip import EndNumbers
from pages.parts.experiments.board import show_arms, show_downloads, show_evidence
from pages.parts.experiments.experiment_snapshot import ExperimentSnapshot, key_numbers, snapshot_of
from pages.parts.experiments.handouts import NO_FIGURE, Note, bars, base_address, show_link, write_down
from pages.parts.experiments.question import Guess, guess_of
from pages.parts.questions.conclusions import findings
from pages.parts.questions.state import SETTINGS, extended, request, shown_answers
from pages.parts.questions.view import key_finding_so_far

TAB = "questions.tab"
# session key: the number of tab openings; the script scrolls when it grows, even if it loads late
OPENINGS = "questions.openings"
# by its words, seeds whose evidence can be shown, with the name of their file
Sets: TypeAlias = dict[str, tuple[str, ExperimentRun | ExperimentSnapshot]]


def show_tabs(issue: Issue, name: str, run: ExperimentRun | None) -> None:
    tabs: dict[str, Callable[[], object]] = {
        "Why": partial(show_why, issue),
        "Evidence": partial(_evidence, issue, name, run),
        "Method": partial(_show_measurements, issue),
        "Share": lambda: show_link(f"{base_address('questions')}questions?issue={issue.slug}"),
    }
    with st.container(key="questions-tabs"):
        chosen = st.segmented_control(
            "More on this question", list(tabs), key=f"{TAB}.{issue.slug}", required=True, label_visibility="collapsed",
            on_change=lambda: st.session_state.update({OPENINGS: st.session_state.get(OPENINGS, 0) + 1}),
        )  # fmt: skip
        if chosen in tabs:
            tabs[chosen]()
        listening_script(Path(__file__).parent / "tabs.js")(
            key="questions.opened", data=st.session_state.get(OPENINGS, 0)
        )


def _show_one(label: str, parts: Mapping[str, Callable[[], object]], key: str) -> None:
    """Let the reader choose a part, at first the first one, and show that one alone."""
    first = next(iter(parts))
    chosen = st.pills(label, list(parts), default=first, required=True, key=key, label_visibility="collapsed")
    parts[chosen if chosen in parts else first]()


def _evidence(issue: Issue, name: str, run: ExperimentRun | None) -> None:
    there = _sets(issue, name, run)
    parts = _claims(issue, there)
    if issue.slug in shown_answers():
        parts["In words"] = partial(_show_findings, issue)
    if issue.published:
        parts["Published numbers"] = lambda: show_published(issue, _trials_beside(there))
    _show_one("Parts of the evidence", parts, f"questions.evidence.{issue.slug}")


def _claims(issue: Issue, there: Sets) -> dict[str, Callable[[], object]]:
    if there:
        return {"Claims": partial(_show_claims, issue, there)}
    sentences = with_terms(*map(sentence_of, issue.claims_of(issue.arms_of(extended()))))
    return {name: partial(st.markdown, text) for name, text in _on_pages("Claims", sentences).items()}


def _show_claims(issue: Issue, there: Sets) -> None:
    first = next(iter(there))
    chosen = st.segmented_control("Seeds", list(there), default=first, required=True, key=f"set.{issue.slug}")
    snapshot = show_evidence(*there[chosen or first])
    if links := links_to_terms(*(row.claim.sentence for row in snapshot.claims)):
        st.caption(f"In the glossary: {links}")
    if any(row.weighed.seeds for row in snapshot.claims):
        st.caption(LOWEST_P)
    show_downloads(snapshot)


def _show_findings(issue: Issue) -> None:
    found = findings(issue.slug)
    if first := found.pop("", ""):
        st.markdown(first)
    for head, text in found.items():
        with st.expander(head):
            st.markdown(text)


def _trials_beside(there: Sets) -> Sequence[Trial] | None:
    """The trials to show beside published numbers: stored ones if they are shown, since they are complete; None before an
    answer."""
    sources = sorted((source for _, source in there.values()), key=lambda source: isinstance(source, ExperimentRun))
    if not sources:
        return None
    return (snapshot_of(sources[0]) if isinstance(sources[0], ExperimentRun) else sources[0]).trials


def sentence_of(claim: Claim) -> str:
    about = {"issue": "", "condition": ":gray-badge[a condition] ", "remedy": ":green-badge[a remedy] "}[claim.about]
    condition = f" :gray[Setting: {claim.condition}]" if claim.condition else ""
    return f"{about}{claim.sentence}{condition}"


def _sets(issue: Issue, name: str, run: ExperimentRun | None) -> Sets:
    there: Sets = {"Trained here": (name, run)} if run is not None else {}
    for report in shipped_reports(issue) if issue.slug in shown_answers() else ():
        stored = f"Stored seeds {report.seed_range}"
        there[stored] = (f"{issue.slug}.{stored}", ExperimentSnapshot.of(report, "shipped"))
    return there


def _show_measurements(issue: Issue) -> None:
    parts: dict[str, Callable[[], object]] = {
        "Models": partial(_show_models, issue),
        "Rule": partial(st.markdown, RULE),
        "Learning rates": partial(_show_rates, issue),
    }
    for name, text in _on_pages("Notes", [*issue.notes, *_one_scale_up(issue)]).items():
        parts[name] = partial(_show_text, text)
    _show_one("Parts of the measurement", parts, f"questions.measured.{issue.slug}")


def _on_pages(name: str, items: Sequence[str]) -> dict[str, str]:
    """Return Markdown lists by name: the items in their order, as many in each as fit on one screen."""
    pages: list[list[str]] = []
    for item in items:
        if not pages or _count(" ".join([*pages[-1], item])) > WORDS_OF_PAGE:
            pages.append([])
        pages[-1].append(item)
    names = [f"{name} {number}" for number in range(1, len(pages) + 1)] if len(pages) > 1 else [name]
    return {one: "\n".join(f"- {item}" for item in page) for one, page in zip(names, pages, strict=False)}


def _count(markdown: str) -> int:
    """The number of words that a reader sees: not those of addresses and colours."""
    return len(WORD.findall(MARKUP.sub("", markdown)))


def _show_models(issue: Issue) -> None:
    _extended_switch(issue)
    figure = issue.key_figure
    show_arms(issue, extended(), request(issue).first_seed, (figure.before.arm, figure.after.arm))


def _show_rates(issue: Issue) -> None:
    _extended_switch(issue)
    show_rates(issue, extended())


def _extended_switch(issue: Issue) -> None:
    if any(arm.extended for arm in issue.arms):
        SETTINGS.widget("extended")


def _one_scale_up(issue: Issue) -> list[str]:
    scaled, result = read_scaled(issue), shipped_result(issue, issue.key_figure)
    if scaled is None or result is None:
        return []
    smallest = issue.claim(issue.key_figure.claim).smallest_effect
    return [scaled.sentence(issue.key_figure, result.finding.after - result.finding.before, smallest)]


# The text: claim, mechanism, sources, remedies, published numbers


WORDS_OF_PAGE = 130
WORD, MARKUP = re.compile(r"[^\W\d_]{2,}"), re.compile(r"\]\([^)]*\)|:[a-z-]+(?=\[)")
COLUMN = 740  # pixels of a text that is read line by line
DRAWING = """
export default function ({ data: [drawing], parentElement }) {
  parentElement.querySelector(".drawing").innerHTML = drawing
}
"""
DRAWING_STYLE = ".drawing { color: var(--st-text-color); font-family: var(--st-font); }"


def show_why(issue: Issue) -> None:
    (_, first), *others = issue.parts
    texts = {
        "Why it happens": first,
        **dict(others),
        "Remedies": "\n".join(f"- {line}" for line in issue.remedies),
    }
    sources = _on_pages("Sources", [f"[{source.citation}]({source.url})" for source in issue.sources])
    parts: dict[str, Callable[[], object]] = {
        "In short": partial(_show_summary, issue),
        **{head: partial(_show_text, text) for head, text in texts.items()},
        **{name: partial(st.markdown, text) for name, text in sources.items()},
    }
    if issue.slug in shown_answers() and (trained := read_trained_depth(issue)):
        parts["Before and after training"] = partial(_show_before_and_after, issue, trained)
    _show_one("Parts of the explanation", parts, f"questions.why.{issue.slug}")


def _show_text(text: str) -> None:
    """Show a text in a column, with terms as links."""
    st.container(width=COLUMN).markdown(with_formulas_apart(*with_terms(text)))


def _show_summary(issue: Issue) -> None:
    words, drawing = st.columns([2.2, 1], gap="large")
    with words:
        _show_text(issue.summary)
        if issue.dial:
            st.page_link(
                "depth.py",
                label="See it on the page Depth, untrained",
                icon=":material/layers:",
                query_params=issue.dial,
            )
    with drawing:
        _drawing()(key=f"drawing.{issue.slug}", data=[stack_svg(issue)])
        st.caption("Coloured: what the arms change.", text_alignment="center")


def _show_before_and_after(issue: Issue, arms: Sequence[TrainedDepth]) -> None:
    for one in arms:
        config = issue.config(issue.arm(one.arm))
        lines = [DepthLine("Trained", one.trained, color_of(config)), DepthLine("Untrained", one.untrained)]
        st.caption(f"{issue.key_figure.name_of(one.arm)}, {counted(len(one.trained), 'seed')}")
        items = depth_panels(lines, config.n_layers, config.norm, height=290, mark=False)
        panels(items, key=f"depth.{issue.slug}.{one.arm}", name=f"depth-{issue.slug}", least=260)


@st.cache_resource
def _drawing() -> Any:
    """A component for an SVG drawing with the page's colours. Names in the drawing must be escaped already."""
    # Streamlit's own elements drop SVG or isolate it from the theme.
    html = '<div class="drawing"></div>'
    return st.components.v2.component("attention_lab_drawing", html=html, css=DRAWING_STYLE, js=DRAWING)


def with_formulas_apart(text: str) -> str:
    # Only a formula in a paragraph of its own is rendered as a display formula.
    return re.sub(
        r"\s*\$\$(.+?)\$\$\s*", lambda formula: f"\n\n$$\n{formula[1].strip()}\n$$\n\n", text, flags=re.DOTALL
    )


def show_published(issue: Issue, trials: Sequence[Trial] | None) -> None:
    number, text = st.column_config.NumberColumn, st.column_config.TextColumn
    for published in issue.published:
        st.markdown(f"**{published.source}.** {published.what}")
        frame = published_frame(published, trials or ())
        formats = {name: number(format="%.3g" if name not in published.columns else "%g") for name in frame.columns}
        st.dataframe(frame, placeholder="", column_config={"_index": text(pinned=True), **formats})
        if published.differs:
            st.caption(f"What differs: {published.differs}")
        if trials is None:
            st.caption("Our numbers appear with the answer.")


# The learning rates of the arms, so that a finding at one rate only is visible


RATE = "learning rate"


def show_rates(issue: Issue, extended: bool) -> None:
    named = {arm.name for arm in issue.arms_of(extended)}
    grids = [grid for grid in read_grids(issue.slug) if grid.arm in named]
    if not grids:
        st.caption("These learning rates were not tuned: each arm uses the rate of its settings.")
        return
    st.markdown(
        f"**Each arm trains at its own best learning rate.** We chose the rate with the best mean on {PILOTS}, which no "
        "finding uses. Of equally good rates, we took the one nearest to that of the settings."
    )
    for why, arms in (
        ("no rate beats guessing", [grid.arm for grid in grids if not grid.learns]),
        ("the rate was not tuned for them", [arm.name for arm in issue.arms_of(extended) if not arm.tuned]),
    ):
        if arms:
            st.caption(f"These train at the rate of their settings, because {why}: {escaped(', '.join(arms))}.")
    by_metric: dict[str, list[RateGrid]] = {}
    for grid in grids:
        by_metric.setdefault(grid.metric, []).append(grid)
    items = [_panel(issue, metric, of) for metric, of in by_metric.items()]
    panels(items, key=f"questions.rates.{issue.slug}", name=f"{issue.slug}-rates", subject=f"{issue.slug}.{extended}")


def _panel(issue: Issue, metric: str, grids: Sequence[RateGrid]) -> Panel:
    label, colors = with_unit(metric), role_colors([issue.arm(grid.arm).role for grid in grids])
    lines = [
        OverX(
            grid.arm,
            color,
            {at: EndNumbers(grid.arm, color, scores, PILOT_SEEDS) for at, scores in grid.scores.items()},
        )
        for grid, color in zip(grids, colors, strict=True)
    ]
    chosen = "; ".join(f"{grid.arm} {best_in_words(grid)}" for grid in grids)
    guessing = {grid.chance for grid in grids}
    return Panel(
        id=f"rates.{metric}", title=f"{label[:1].upper()}{label[1:]} at each learning rate",
        figure=over_x_figure(lines, RATE, label, guessing.pop() if len(guessing) == 1 else None), height=over_x_height(lines), wide=True,
        alt=f"{label} over the learning rate. " + "; ".join(map(_in_words, grids)), below=f"Chosen: {chosen}",
    )  # fmt: skip


def _in_words(grid: RateGrid) -> str:
    known = {rate: [score for score in scores if score is not None] for rate, scores in sorted(grid.scores.items())}
    return f"{grid.arm}: " + ", ".join(f"{fmean(scores):.3g} at {rate:g}" for rate, scores in known.items() if scores)


# Notes for the student's report


STORED = "Nothing; read stored runs"  # the first words on a run of which only stored seeds were shown


def note_issue(issue: Issue, run: ExperimentRun | None, snapshot: ExperimentSnapshot | None) -> None:
    figure, guess = issue.key_figure, guess_of(issue.slug)
    finding = _finding(figure, snapshot)
    if guess.answer is None and snapshot is None:
        return
    run_sentence = _run_sentence(run, snapshot) if snapshot is not None and snapshot.seeds else ""
    drawn = (
        bars(key_numbers(issue, snapshot)["rows"], figure)
        if snapshot is not None and finding is not None
        else NO_FIGURE
    )
    sentence = finding.sentence if finding is not None else ""
    write_down(
        f"issue.{issue.slug}", Note(issue.title, figure.question, _guess(figure, guess), run_sentence, sentence, drawn)
    )


def _guess(figure: KeyFigure, guess: Guess) -> str:
    if guess.answer is None:
        return ""
    size = f", to {figure.format_value(guess.size)}" if guess.size is not None else ""
    return f"{figure.asks.in_words(guess.answer)}{size}"


def _run_sentence(run: ExperimentRun | None, snapshot: ExperimentSnapshot) -> str:
    here = "Trained here" if run is not None and mine(run.visitor.id) else "Nothing; watched somebody else’s run"
    words = STORED if snapshot.origin == "stored" else here
    reuse = f"; {snapshot.reused} of its trials were trained before" if snapshot.reused else ""
    return f"{words}: {snapshot.seeds_in_words}{reuse}."


def _finding(figure: KeyFigure, snapshot: ExperimentSnapshot | None) -> KeyFinding | None:
    return key_finding_so_far(figure, snapshot) if snapshot is not None and snapshot.state != "running" else None

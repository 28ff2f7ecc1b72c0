"""Documents of a lesson, each one file of HTML to save, send and print, without server, script or other files: the
teacher's sheet, the handout for students, a student's report. And links as QR codes.

The parts of a form (:func:`html`) are escaped unless they are HTML: user text appears as it was typed.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path
from string import Template
from threading import Lock
from typing import Literal
from urllib.parse import urlsplit

import segno
import streamlit as st
from markupsafe import Markup, escape

from engine.estimate.matching import n_parameters
from engine.experiments.classroom import MAX_STUDENTS
from engine.experiments.evidence.shipped import ShippedResult, shipped_claims, shipped_result
from engine.experiments.finding import READERS_SEEDS, Finding
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.key_figure import KeyFigure
from engine.experiments.lessons import Lesson, LessonStep
from engine.experiments.long_findings import shipped_long_finding
from engine.experiments.question import Direction, Question
from engine.foundation.formatting import counted, in_time
from engine.foundation.provenance import in_words, provenance
from engine.tasks import TASKS
from pages.parts.app.page_state import offer_file
from pages.parts.app.visitor import is_present, visitor
from pages.parts.charts.colors import INK, SURFACE, custom_properties
from pages.parts.charts.experiments.key_figure import lengths
from pages.parts.charts.experiments.strip import EndNumbers
from pages.parts.experiments.experiment_snapshot import key_numbers

PAGE = Template((Path(__file__).with_suffix(".html")).read_text("utf-8"))
joined = Markup().join


def html(form: str, *parts: object) -> Markup:
    return Markup(form).format(*parts)


def listed(items: Iterable[str]) -> Markup:
    rows = joined(html("<li>{}</li>", item) for item in items)
    return html("<ul>{}</ul>", rows) if rows else rows


def bars(rows: Sequence[EndNumbers], figure: KeyFigure) -> Markup:
    known = [(row, row.mean) for row in rows if row.mean is not None]
    means = [mean for _, mean in known]
    form = '<tr><td>{}</td><td><i class="bar" style="width: {}%; background: {}"></i></td><td>{}</td></tr>'
    cells = joined(
        html(form, row.name, round(100 * length), row.color["light"], figure.format_value(mean))
        for (row, mean), length in zip(known, lengths(means), strict=True)
    )
    return html("<table>{}</table>", cells)


def document(title: str, body: Markup) -> str:
    return PAGE.substitute(
        colors=custom_properties(),
        title=escape(title),
        body=body,
        origin=escape(f"Written by {in_words(provenance())}."),
    )


# A student's report: the guesses, runs and results of this browser, in that order. The server keeps it in memory, so
# that a reload loses nothing.


# A full class, and as many others.
MAX_REPORTS = 2 * MAX_STUDENTS  # those of one network may be half of them
NAME, USER_TEXT = "name", "own"
MAX_TEXT_CHARACTERS = 5000
NO_FIGURE = Markup()
NOTHING_YET = "It will list your guesses, runs and results. There are none yet."


@dataclass(frozen=True)
class Note:
    title: str
    question: str = ""
    guess: str = ""  # before the result; empty without a guess
    run: str = ""
    finding: str = ""
    figure: Markup = NO_FIGURE


@dataclass(frozen=True)
class StudentReport:
    network: str = ""
    notes: dict[str, Note] = field(default_factory=dict)
    words: dict[str, str] = field(default_factory=dict)  # the reader's texts, by the names of their boxes
    # notes of an earlier reader of this browser, which open pages would write again
    forgotten: dict[str, Note] = field(default_factory=dict)


_reports = OrderedDict[str, StudentReport]()  # in the order in which their visitors' pages last wrote; guarded by _lock
_lock = Lock()


def student_report_of(visitor_id: str) -> StudentReport:
    return _reports.get(visitor_id, StudentReport())


def write_down(key: str, note: Note) -> None:
    """Store the note under its key. Once there is a result, the first guess stays, and only a result replaces it."""
    author = visitor()
    with _lock:
        if author.id not in _reports:
            _make_room(author.network)
        student_report = _reports.setdefault(author.id, StudentReport(author.network))
        _reports.move_to_end(author.id)
    earlier = student_report.notes.get(key)
    if earlier is not None and earlier.finding:
        if not note.finding:
            return
        note = replace(note, guess=earlier.guess)
    if note != student_report.forgotten.get(key):
        student_report.notes[key] = note


def _make_room(network: str) -> None:
    """Drop the oldest report, first of visitors without an open page, if one more exceeds a limit."""
    near = [name for name, one in _reports.items() if network and one.network == network]
    names = near if len(near) >= MAX_REPORTS // 2 else list(_reports) if len(_reports) >= MAX_REPORTS else []
    if names:
        _reports.pop(next((name for name in names if not is_present(name)), names[0]))


def report_html(notes: Iterable[Note], words: Mapping[str, str]) -> str:
    name, user_text = words.get(NAME, "").strip(), words.get(USER_TEXT, "").strip()
    head = html("<h1>Report</h1><p class=line>{}</p>", f"Name: {name}")
    sentence = html("<h2>In my own words</h2><p class=own>{}</p>", user_text) if user_text else ""
    # a list, because another tab may add a note meanwhile
    rows = joined(_section(number, note) for number, note in enumerate(list(notes), start=1))
    return document(f"Report {name}".strip(), html("{}{}{}", head, rows, sentence))


def _section(number: int, note: Note) -> Markup:
    guess = (note.guess or "no guess before the result") if note.question else ""
    result = note.finding or ("the run had not ended yet" if note.run else "")
    lines = (("Guessed", guess), ("Ran", note.run or "nothing yet"), ("Found", result))
    answers = joined(html("<p><b>{}:</b> {}</p>", label, words) for label, words in lines if words)
    return html(
        "<section><h2>{}. {}</h2><p>{}</p>{}{}</section>", number, note.title, note.question, answers, note.figure
    )


def offer_report() -> None:
    student_report = student_report_of(visitor().id)
    st.markdown("**Your report**")
    if not student_report.notes:
        st.caption(NOTHING_YET)
        return
    _box(st.text_input, "Name (optional)", student_report.words, NAME, 100)
    _box(
        st.text_area,
        "In your own words: what did you find, and why?",
        student_report.words,
        USER_TEXT,
        MAX_TEXT_CHARACTERS,
    )
    with st.container(horizontal=True):
        make = partial(
            report_html, student_report.notes.values(), student_report.words
        )  # has the text at the time of the download
        offer_file("Report (HTML)", make, "report.html", ":material/assignment_turned_in:")
        st.button(
            "Start over", icon=":material/restart_alt:", type="tertiary", on_click=_forget, args=(student_report,)
        )
    st.caption("Your guesses, runs and results in this browser. Save the report, because a server restart deletes it.")


def _forget(student_report: StudentReport) -> None:
    # Another reader begins in this browser.
    student_report.forgotten.update(student_report.notes)
    student_report.notes.clear()
    student_report.words.clear()
    for name in (NAME, USER_TEXT):
        st.session_state.pop(f"report.{name}", None)


def _box(draw: Callable[..., object], label: str, words: dict[str, str], name: str, most: int) -> None:
    key, state = f"report.{name}", st.session_state
    draw(label, words.get(name, ""), max_chars=most, key=key, on_change=lambda: words.update({name: state[key]}))


# The teacher's sheet and the handout. Both come from the lesson's issues and the shipped evidence, so no result in them
# is written by hand.


KEYS = {
    "→ ←": "next and back, also on a presenter’s remote",
    "1 2 3": "choose the class’s guess",
    "Q": "shows the QR code with which students join the class",
    "S": "asks each phone to train one seed; each becomes a dot in the figure",
    "E": "pressed twice: empties the class; phones that are open enter again",
    "X": "removes a part of a trained model, then the next",
    "B": "makes the screen black",
    "P, Escape": "start and leave the presentation",
}
MAX_FURTHER_CLAIMS = 3


def teachers_sheet(lesson: Lesson) -> str:
    goal = lesson.goal or "Guess before each run. Then say in one sentence what was found and what helps."
    head = html(
        "<h1>{}</h1><p><b>Goal.</b> {}</p><p><b>{}</b>, {}. In each step, guessing, running and discussing take a third each."
        "</p><p class=light>The numbers come from stored runs. Your class trains other seeds, so its numbers differ a "
        "little.</p>",
        lesson.title, goal, counted(lesson.minutes, "minute"), counted(len(lesson.steps), "step"),
    )  # fmt: skip
    keys = listed(html("<b>{}</b> {}", key, does) for key, does in KEYS.items())
    steps = joined(_teach(number, step) for number, step in enumerate(lesson.steps, start=1))
    return document(f"Teacher’s sheet: {lesson.title}", html("{}<h2>Keys in Present</h2>{}{}", head, keys, steps))


def hand_out(lesson: Lesson, link: str) -> str:
    """Two pages: questions before, and results after. Six steps fit. ``link``: empty if the class cannot open it."""
    code = Markup(qr_code(link)) if link else ""
    where = html('<p class="light">Open the lesson on your phone, or at {}</p>', link) if link else ""
    form = "<div class=head><div><h1>{}</h1><p class=line>Name</p>{}</div>{}</div>"
    before = html(form, lesson.title, where, code)
    after = html(
        "<h1>{}: results</h1><p class=light>The numbers come from stored runs. Our class trained other seeds.</p>", lesson.title
    )  # fmt: skip
    numbered = list(enumerate(lesson.steps, start=1))
    pages = ((before, joined(_guess(*one) for one in numbered)), (after, joined(_keep(*one) for one in numbered)))
    body = joined(html('<div class="page dense">{}{}</div>', *page) for page in pages)
    return document(f"Handout: {lesson.title}", body)


def _title(number: int, step: LessonStep, more: str = "") -> Markup:
    return html("<h2>{}. {} <small>{}</small></h2>", number, step.title, more)


def _choices(answers: Sequence[str], right: Sequence[str] = ()) -> Markup:
    items = joined(html("<li{}>{}</li>", " class=right" if one in right else "", one) for one in answers)
    return html('<ul class="choices">{}</ul>', items)


def _teach(number: int, step: LessonStep) -> Markup:
    title = _title(number, step, counted(step.minutes, "minute"))
    question, result = step.question, _result_of(step)
    if step.slide or question is None:
        say = html("<p class=own><b>Say.</b> {}</p>", step.slide.text) if step.slide and step.slide.text else Markup()
        return html("<section>{}{}{}</section>", title, say, _ask(question))
    tells = ISSUES[step.issue].summary if step.issue else " ".join(step.guide.text) if step.guide else ""
    say = html("<p><b>Say.</b> {} One sample: {}</p>", tells, _sample(step, question))
    ask = _ask(question, result.finding.right if result else ())
    finding = _finding(ISSUES[step.issue], result) if step.issue else _lab(step)
    return html("<section>{}{}{}{}</section>", title, say, ask, finding)


def _ask(question: Question | None, right: Sequence[Direction] = ()) -> Markup:
    if question is None:
        return Markup()
    choices = _choices(question.answers, [question.in_words(one) for one in right or question.taught])
    return html("<p><b>Ask.</b> {}</p>{}", question.words, choices)


def _lab(step: LessonStep) -> Markup:
    # Nothing was measured beforehand.
    config, preset = step.config, step.preset
    size = f"{n_parameters(config):,} parameters, {counted(config.steps, 'step')}"
    watched = html("<p><b>Look.</b> {}</p>", preset.look_at) if preset else Markup()
    expected = f"We expect that the model {preset.expects}. " if preset else ""
    return html(
        "<p><b>Model.</b> {}.</p>{}<p><b>Result.</b> {}Train this model before the class, because the same seed gives the same result.</p>",
        ", ".join(filter(None, (step.settings_in_words, size))), watched, expected,
    )  # fmt: skip


def _sample(step: LessonStep, question: Question) -> str:
    return question.sample or ("" if step.slide else TASKS[step.config.task].sample)


def _result_of(step: LessonStep) -> ShippedResult | None:
    return shipped_result(issue, issue.key_figure) if step.issue and (issue := ISSUES[step.issue]) else None


def _finding(issue: Issue, result: ShippedResult | None) -> Markup:
    if result is None:
        return html("<p><b>Result.</b> Not measured with this version.</p>")
    seconds = result.report.seconds * READERS_SEEDS / len(result.report.seeds)
    long_runs = shipped_long_finding(issue)
    return html(
        "<p><b>Result.</b> {} {} <span class=light>{}; {} of them took about {}.</span></p>{}<p>{}<b>Remedy.</b> {}</p>{}",
        result.finding.sentence, long_runs.sentence if long_runs else "", result.report.seeds_in_words, READERS_SEEDS, in_time(seconds),
        bars(key_numbers(issue, result.report)["rows"], issue.key_figure), _because(result), issue.key_figure.remedy, _further(issue),
    )  # fmt: skip


def _because(result: ShippedResult) -> Markup:
    reason = result.finding.because
    return html("<b>Because</b> {} ", reason) if reason else Markup()


def _further(issue: Issue) -> Markup:
    claims = [one for one in shipped_claims(issue) if one.claim.id != issue.key_figure.claim]
    # Claims that did not hold come first.
    claims.sort(key=lambda one: one.finding is Finding.HOLDS)
    form = "{} <span class=light>{}</span> <b>{}.</b>"
    answers = ((one.claim.sentence, one.claim.condition, one.finding.words) for one in claims[:MAX_FURTHER_CLAIMS])
    words = listed(html(form, *one) for one in answers)
    return html("<p><b>Claims students may raise</b></p>{}", words) if words else words


def _guess(number: int, step: LessonStep) -> Markup:
    question, title = step.question, _title(number, step)
    if question is None:
        return html("<section>{}</section>", title)
    return html(
        "<section>{}<p>{} <span class=light>{}</span></p>{}<p class=line>Because</p></section>",
        title, question.words, _sample(step, question), _choices(question.answers),
    )  # fmt: skip


def _keep(number: int, step: LessonStep) -> Markup:
    title, result = _title(number, step), _result_of(step)
    if step.slide:
        return html("<section>{}</section>", title)
    if result is None:
        measured = html("<p class=line>Our run</p>")
    else:
        figure = ISSUES[step.issue].key_figure
        rows = key_numbers(ISSUES[step.issue], result.report, whole=False)["rows"]
        form = "<p>{}</p>{}<p>{}<b>Remedy.</b> {}</p>"
        measured = html(form, result.finding.sentence, bars(rows, figure), _because(result), figure.remedy)
    return html("<section>{}{}<p class=line>In my words</p></section>", title, measured)


# A link as a QR code


TOO_LONG = "This link is too long for a QR code."


def base_address(page: str) -> str:
    """The app's address, ending in a slash. ``page``: the address of the shown page."""
    return (st.context.url or "").split("?")[0].removesuffix("/").removesuffix(page)


def only_here(link: str) -> str:
    """A sentence about a link that works on this machine only; else empty."""
    if urlsplit(link).hostname in ("localhost", "127.0.0.1"):
        return "This link works on this machine only. For a class, use its network address."
    return ""


@lru_cache
def qr_code(link: str) -> str:
    """The link as SVG, black on white in both themes; empty if it is too long (2,953 bytes)."""
    try:
        code = segno.make(link, micro=False)
    except segno.DataOverflowError:
        return ""
    return code.svg_inline(scale=4, dark=INK["light"], light=SURFACE["light"], border=2, omitsize=True)


def show_qr_code(link: str, width: int | Literal["content"] = "content") -> None:
    """Draw the QR code, or why there is none. ``width`` in pixels."""
    if drawing := qr_code(link):
        st.image(drawing, width=width, alt="The link as a QR code")
    else:
        st.caption(TOO_LONG)


def show_link(link: str) -> None:
    st.caption(only_here(link) or "The link never starts training.")
    code, qr = st.columns([2, 1])
    code.code(link, language=None, wrap_lines=True)
    with qr:
        show_qr_code(link)

"""The teacher's sheet of a lesson and the hand-out for its students, as files to print. Both are made from the issues of the lesson and
from the evidence that comes with this version: no outcome is written in them by hand."""

from collections.abc import Sequence

from markupsafe import Markup

from engine.estimate.matching import n_parameters
from engine.experiments.evidence.shipped import ShippedResult, shipped_claims, shipped_result
from engine.experiments.finding import READERS_SEEDS, Finding
from engine.experiments.issues import ISSUES
from engine.experiments.issues.issue import Issue
from engine.experiments.lessons import Lesson, LessonStep
from engine.experiments.question import Direction, Question
from engine.foundation.formatting import counted, in_time
from engine.tasks import TASKS
from pages.parts.stage.document import bars, document, html, joined, listed
from pages.parts.stage.ended import key_numbers
from pages.parts.stage.qr import qr_code

KEYS = {
    "→": "goes on, as a presenter’s remote does; ← goes back",
    "1 2 3": "choose the class’s guess",
    "Q": "shows the class’s link as a QR code: phones that open it go with the wall, guess, and are told who was right",
    "S": "asks each phone to train a seed of an issue; their dots fall into the figure",
    "E": "empties the class, pressed twice: phones that are here enter it again",
    "X": "takes a part of a trained model away, and the next",
    "B": "makes the screen black",
    "P, Escape": "begin and leave the presentation",
}
MOST_FURTHER = 3
"""The most further claims at a step."""


def teachers_sheet(lesson: Lesson) -> str:
    goal = lesson.goal or "Guess before each run, and say in one sentence what was found and what helps."
    head = html(
        "<h1>{}</h1><p><b>Goal.</b> {}</p><p><b>{}</b>, {}. Each step takes about a third of its minutes to ask and to guess, a third "
        "to run, and a third to talk about what comes out.</p><p class=light>Numbers in this sheet come from stored runs; your class runs "
        "other seeds, so its numbers differ a little. Nobody was asked about the answers: they are those that the page offers.</p>",
        lesson.title, goal, counted(lesson.minutes, "minute"), counted(len(lesson.steps), "step"),
    )  # fmt: skip
    keys = listed(html("<b>{}</b> {}", key, does) for key, does in KEYS.items())
    steps = joined(_teach(place, step) for place, step in enumerate(lesson.steps, start=1))
    return document(f"Teacher’s sheet: {lesson.title}", html("{}<h2>Keys in Present</h2>{}{}", head, keys, steps))


def hand_out(lesson: Lesson, link: str) -> str:
    """Two pages for a lesson of at most six steps: one with the questions for before, one with what was measured for after. ``link``: to
    the lesson; empty where the class cannot open it."""
    code = Markup(qr_code(link)) if link else ""
    where = html('<p class="light">Open the lesson on your phone, or at {}</p>', link) if link else ""
    form = "<div class=head><div><h1>{}</h1><p class=line>Name</p>{}</div>{}</div>"
    before = html(form, lesson.title, where, code)
    after = html(
        "<h1>{}: what was measured</h1><p class=light>The numbers come from stored runs; ours had other seeds.</p>", lesson.title
    )  # fmt: skip
    numbered = list(enumerate(lesson.steps, start=1))
    pages = ((before, joined(_guess(*one) for one in numbered)), (after, joined(_keep(*one) for one in numbered)))
    body = joined(html('<div class="page dense">{}{}</div>', *page) for page in pages)
    return document(f"Hand-out: {lesson.title}", body)


def _title(place: int, step: LessonStep, more: str = "") -> Markup:
    return html("<h2>{}. {} <small>{}</small></h2>", place, step.title, more)


def _choices(answers: Sequence[str], right: Sequence[str] = ()) -> Markup:
    items = joined(html("<li{}>{}</li>", " class=right" if one in right else "", one) for one in answers)
    return html('<ul class="choices">{}</ul>', items)


def _teach(place: int, step: LessonStep) -> Markup:
    title = _title(place, step, counted(step.minutes, "minute"))
    question, found = step.question, _result_of(step)
    if step.slide or question is None:
        own = html("<p class=own><b>Say.</b> {}</p>", step.slide.text) if step.slide and step.slide.text else Markup()
        return html("<section>{}{}{}</section>", title, own, _asked(question))
    tells = html("{} ", ISSUES[step.issue].summary) if step.issue else ""
    said = html("<p><b>Say.</b> {}One sample: {}</p>", tells, _sample(step, question))
    asked = _asked(question, found.outcome.right if found else ())
    outcome = _outcome(ISSUES[step.issue], found) if step.issue else _lab(step)
    return html("<section>{}{}{}{}</section>", title, said, asked, outcome)


def _asked(question: Question | None, right: Sequence[Direction] = ()) -> Markup:
    if question is None:
        return Markup()
    choices = _choices(question.answers, [question.in_words(one) for one in right or question.taught])
    return html("<p><b>Ask.</b> {}</p>{}", question.words, choices)


def _lab(step: LessonStep) -> Markup:
    """What a step in the lab trains, and how to prepare it: nothing was measured beforehand."""
    config, preset = step.config, step.preset
    size = f"{n_parameters(config):,} parameters, {counted(config.steps, 'step')}"
    look = html("<p><b>Look.</b> {}</p>", preset.look_at) if preset else Markup()
    expected = f"We expect that it {preset.expects}. " if preset else ""
    return html(
        "<p><b>What trains.</b> {}.</p>{}<p><b>What comes out.</b> {}The sentence is computed from the run. Train it in the lab before the "
        "class: with the same seed it ends the same way.</p>",
        ", ".join(filter(None, (step.settings_in_words, size))), look, expected,
    )  # fmt: skip


def _sample(step: LessonStep, question: Question) -> str:
    return question.sample or ("" if step.slide else TASKS[step.config.task].sample)


def _result_of(step: LessonStep) -> ShippedResult | None:
    return shipped_result(issue, issue.key_figure) if step.issue and (issue := ISSUES[step.issue]) else None


def _outcome(issue: Issue, found: ShippedResult | None) -> Markup:
    if found is None:
        return html("<p><b>What comes out.</b> It was not measured with this version.</p>")
    seconds = found.report.seconds * READERS_SEEDS / len(found.report.seeds)
    return html(
        "<p><b>What comes out.</b> {} <span class=light>{}; {} of them took about {}.</span></p>{}<p>{}<b>What helps.</b> {}</p>{}",
        found.outcome.sentence, found.report.seeds_in_words, READERS_SEEDS, in_time(seconds),
        bars(key_numbers(issue, found.report)["rows"], issue.key_figure), _because(found), issue.key_figure.remedy, _further(issue),
    )  # fmt: skip


def _because(found: ShippedResult) -> Markup:
    """The reason; empty where the runs do not show what it is a reason for."""
    reason = found.outcome.because
    return html("<b>Because</b> {} ", reason) if reason else Markup()


def _further(issue: Issue) -> Markup:
    """What else somebody may say, with what was found about it: first what did not come out as it was claimed."""
    claims = [one for one in shipped_claims(issue) if one.claim.id != issue.key_figure.claim]
    claims.sort(key=lambda one: one.finding is Finding.HOLDS)
    form = "{} <span class=light>{}</span> <b>{}.</b>"
    told = ((one.claim.sentence, one.claim.condition, one.finding.words) for one in claims[:MOST_FURTHER])
    words = listed(html(form, *one) for one in told)
    return html("<p><b>If somebody says</b></p>{}", words) if words else words


def _guess(place: int, step: LessonStep) -> Markup:
    """The step on the page for before."""
    question, title = step.question, _title(place, step)
    if question is None:
        return html("<section>{}</section>", title)
    return html(
        "<section>{}<p>{} <span class=light>{}</span></p>{}<p class=line>Because</p></section>",
        title, question.words, _sample(step, question), _choices(question.answers),
    )  # fmt: skip


def _keep(place: int, step: LessonStep) -> Markup:
    """The step on the page for after."""
    title, found = _title(place, step), _result_of(step)
    if step.slide:
        return html("<section>{}</section>", title)
    if found is None:
        measured = html("<p class=line>Our run</p>")
    else:
        figure = ISSUES[step.issue].key_figure
        rows = key_numbers(ISSUES[step.issue], found.report, whole=False)["rows"]
        form = "<p>{}</p>{}<p>{}<b>What helps.</b> {}</p>"
        measured = html(form, found.outcome.sentence, bars(rows, figure), _because(found), figure.remedy)
    return html("<section>{}{}<p class=line>In my words</p></section>", title, measured)

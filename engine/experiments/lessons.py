"""Lessons: issues, settings of the lab and slides of text in an order, each with its minutes, as a value and as a short text for
links.

Steps of the lab with prepared words lie in ``lessons.toml``.

The text names only what differs from the defaults, and apart from a teacher's words it holds only characters that an address leaves
as they are, so that a QR code of the link stays small: ``title~Depth~~text~Today~Three
questions.1~~missing-mask.7~~lab~n_layers~2.5`` is the title "Depth", a slide for a minute, an issue for seven, then the lab with
two layers for five. A teacher's question stands at the end of a step: ``lab~n_layers~2~ask~Will it work?~No~Partly~Yes~learned.5``.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, NamedTuple

from engine.config.link import VERSION, from_query
from engine.config.presets import PRESETS, Preset
from engine.config.run_config import RunConfig, parse, settings_for
from engine.experiments.issues import COSTS, ISSUES, RENAMED
from engine.experiments.question import ANSWERS, Direction, Observed, Question, Reading
from engine.experiments.run_readings import READINGS
from engine.foundation.tables import Text, one_line, read_tables
from engine.settings.errors import ConfigError, Problem, not_one_of
from engine.settings.fields import Value, to_text
from engine.settings.names import resolve_name
from engine.tasks import TASKS

LAB, TEXT, TITLE = "lab", "text", "title"
BETWEEN_STEPS, BETWEEN_PARTS = "~~", "~"
MAX_STEPS, MAX_MINUTES = 30, 90
MAX_TITLE_LETTERS, MAX_SLIDE_LETTERS = (
    80,
    600,
)  # the most letters of the title of a lesson or a slide, and of a slide's text
MAX_QUESTION_LETTERS, MAX_ANSWER_LETTERS = (
    160,
    60,
)  # the most letters of a teacher's question, and of each of its answers
# the mark before a teacher's question at the end of a step, and its parts: the mark, the words, three answers, and what decides
ASK, PARTS_OF_QUESTION = "ask", 6
LEARNS = ("No", "In part", "Yes")  # the answers to "Will this model learn it?"


class Slide(NamedTuple):
    title: str
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Guide:
    slug: str
    title: str
    text: tuple[Text, ...]
    """Two or three sentences before the question, in Markdown; none of them says how a run ends."""
    settings: dict[str, Value]
    vary: str
    """The one setting that somebody alone may change."""
    values: tuple[Value, ...]
    """Two to four values of ``vary``."""
    figure: Literal["accuracy", "heads", "samples"]
    asks: Text
    answers: tuple[str, str, str]
    reads: str
    """The name of the reading that decides."""
    teaches: tuple[str, str, str]
    """By answer, the lesson of a run in one sentence without its numbers."""
    leads_to: str
    minutes: int = 5

    @property
    def question(self) -> Question:
        return Question(self.asks, self.answers, READINGS[self.reads])

    def taught_by(self, observed: Observed) -> str:
        return self.teaches[ANSWERS.index(observed.right[0])] if observed.right else ""


@dataclass(frozen=True)
class LessonStep:
    """An issue, a slide of text, or the lab with its settings."""

    minutes: int
    issue: str = ""
    """A slug; empty for the lab and a slide."""
    settings: tuple[tuple[str, str], ...] = ()
    """(name, value as text) of the lab's settings that differ from the defaults."""
    slide: Slide | None = None
    teachers_question: Question | None = None
    """For the lab or a slide, by a teacher or the guide. In the lab a reading decides, on a slide the teacher."""
    guide: Guide | None = None

    @property
    def title(self) -> str:
        if self.slide:
            return self.slide.title
        if self.issue:
            return ISSUES[self.issue].title
        if self.guide:
            return self.guide.title
        return f"Lab: {self.preset.title if self.preset else self.settings_in_words}"

    @property
    def preset(self) -> Preset | None:
        config = self.config
        return next((one for one in PRESETS.values() if one.config == config), None)

    @property
    def settings_in_words(self) -> str:
        rows = {row.name: row for row in settings_for(self.config.task, self.config.pos_encoding)}
        return ", ".join(f"{rows[name].label} {rows[name].words(value)}" for name, value in self.settings)

    @property
    def config(self) -> RunConfig:
        return from_query(dict(self.settings))[0]

    @property
    def query(self) -> dict[str, str]:
        """The query of the page that the step opens; empty for a slide."""
        if self.slide:
            return {}
        # The version also if all settings are the defaults: without it the lab takes no link and keeps the settings of an
        # earlier step.
        return {"issue": self.issue} if self.issue else {"v": VERSION, **dict(self.settings)}

    def covers(self, config: RunConfig) -> bool:
        """True if a run of these settings belongs to the lab's step: at any seed, and at each value that its guide names."""
        guide, reference, flat = self.guide, self.config, config.flat()
        if guide is None or flat.get(guide.vary) not in guide.values:
            return config == reference
        return config == reference.replace(**{guide.vary: flat[guide.vary], "seed": config.seed})

    @property
    def question(self) -> Question | None:
        if self.slide:
            return self.teachers_question
        if self.issue:
            return ISSUES[self.issue].key_figure.asks
        config, task = self.config, TASKS[self.config.task]
        sample = "" if task.corpus else config.task_settings.sample(task.sample)
        if self.teachers_question:
            return replace(self.teachers_question, sample=sample)
        return Question(f"{task.summary} Will this model learn it?", LEARNS, READINGS["learned"], sample)


@dataclass(frozen=True)
class Lesson:
    title: str
    """Empty if the teacher gave none."""
    steps: tuple[LessonStep, ...]
    goal: str = ""
    """One sentence for students that names no result; empty for a teacher's lesson."""

    @property
    def minutes(self) -> int:
        return sum(step.minutes for step in self.steps)


def lab_step(minutes: int, config: RunConfig) -> LessonStep:
    """The lab with a config, fewer the parameters that an encoding or a task brings along."""
    texts = {name: to_text(value) for name, value in config.flat().items()}
    for name in reversed(list(texts)):
        fewer = {other: text for other, text in texts.items() if other != name}
        if from_query(fewer) == (config, []):
            texts = fewer
    return LessonStep(minutes, settings=tuple(texts.items()))


def _of_issues(title: str, goal: str, *slugs: str) -> Lesson:
    return Lesson(title, tuple(LessonStep(ISSUES[slug].minutes, slug) for slug in slugs), goal)


def _prepared(guide: Guide) -> LessonStep:
    return replace(lab_step(guide.minutes, parse(guide.settings)), teachers_question=guide.question, guide=guide)


# the prepared steps of the lab, by their names in a link
PREPARED: Mapping[str, LessonStep] = {
    slug: _prepared(guide) for slug, guide in read_tables(Path(__file__).with_suffix(".toml"), Guide).items()
}
TUTORIAL = "reverse-in-six-steps"  # the lesson to which the start page leads
# the lessons that come with this version, by their names in a link
LESSONS: Mapping[str, Lesson] = {
    TUTORIAL: Lesson(
        "Reverse in six steps",
        tuple(PREPARED.values()),
        "Say what a model needs to reverse a sequence, and what a second layer adds.",
    ),
    "in-ten-minutes": Lesson(
        "Order and mask",
        (PREPARED["say-where-each-symbol-stands"], LessonStep(5, "missing-mask")),
        "Say why attention needs positions, and how to notice a broken mask.",
    ),
    "encodings": _of_issues(
        "Positional encodings",
        "Say what a model cannot do without positions. Choose an encoding for a task and a length.",
        "no-encoding", "encoding-fits-task", "learned-table", "longer-sequences",
    ),
    "depth": _of_issues(
        "How depth helps and harms",
        "Say which tasks need more layers. Say which parts a deep stack needs, and how to test a layer.",
        "what-depth-brings", "missing-skips", "tokens-alike", "no-normalization", "interpretability", "warm-up-and-qk-norm",
    ),
    "what-can-go-wrong": _of_issues(
        "What can go wrong",
        "Find mistakes that give no error message: in the mask, the number of heads and the data.",
        "missing-mask", "heads", "shortcuts",
    ),
}  # fmt: skip


def to_code(lesson: Lesson) -> str:
    """The text of a lesson in a link: its name if it is shipped, else its steps."""
    here = LESSONS.items()
    slug = next((name for name, one in here if one.steps == lesson.steps and lesson.title in ("", one.title)), None)
    title = [f"{TITLE}{BETWEEN_PARTS}{lesson.title}"] if lesson.title else []
    return slug or BETWEEN_STEPS.join([*title, *map(_step_to_code, lesson.steps)])


def teachers_words(given: str, longest: int) -> str:
    """A teacher's words as a lesson's text can hold them: on lines without spaces at their ends, without the marks between parts,
    and cut to the allowed length."""
    lines = "\n".join(one_line(line) for line in given.replace(BETWEEN_PARTS, "-").splitlines())
    return lines.strip()[:longest].strip()


def from_code(code: str) -> Lesson:
    """Raises ConfigError with one sentence."""
    if (name := resolve_name(code, LESSONS)) in LESSONS:
        return LESSONS[name]
    first, *others = code.split(BETWEEN_STEPS)
    name, _, title = first.partition(BETWEEN_PARTS)
    parts = others if name == TITLE else [first, *others]
    if not code or not 1 <= len(parts) <= MAX_STEPS:
        raise ConfigError([not_one_of("lesson", code, LESSONS, f", or 1 to {MAX_STEPS} steps")])
    steps = tuple(map(_step_from_code, parts))
    return Lesson(teachers_words(title, MAX_TITLE_LETTERS) if name == TITLE else "", steps)


def teachers_question(step: LessonStep, words: str, answers: Sequence[str], by: str) -> Question:
    """A teacher's question of a step. ``by`` decides: the name of a reading of the lab's run, or on a slide the right answer.
    Raises ConfigError with one sentence."""
    words = teachers_words(words, MAX_QUESTION_LETTERS)
    first, second, third = (teachers_words(answer, MAX_ANSWER_LETTERS) for answer in answers)
    if not words or len({first, second, third} - {""}) < 3:
        raise _problem(words, "a question with three different answers")
    allowed: Mapping[str, Reading | Direction] = {to_text(answer): answer for answer in ANSWERS}
    if not step.slide:
        allowed = {name: one for name, one in READINGS.items() if one.fits(step.config)}
    if by not in allowed:
        raise ConfigError([not_one_of("lesson", by, allowed)])
    return Question(words, (first, second, third), allowed[by])


def _step_to_code(step: LessonStep) -> str:
    if step.guide:
        return f"{step.guide.slug}.{step.minutes}"
    if step.slide:
        text = BETWEEN_PARTS.join(filter(None, (TEXT, *step.slide)))
    else:
        text = step.issue or BETWEEN_PARTS.join([LAB, *(part for pair in step.settings for part in pair)])
    if question := step.teachers_question:
        by = question.decided_by.name if isinstance(question.decided_by, Reading) else to_text(question.decided_by)
        text = BETWEEN_PARTS.join([text, ASK, question.words, *question.answers, by])
    return f"{text}.{step.minutes}"


def _step_from_code(code: str) -> LessonStep:
    content, _, minutes = code.rpartition(".")
    if not (minutes.isascii() and minutes.isdigit() and 1 <= int(minutes) <= MAX_MINUTES):
        raise _problem(code, f"a step, a full stop and 1 to {MAX_MINUTES} minutes, such as missing-mask.7")
    first, *rest = content.split(BETWEEN_PARTS)
    parts = rest[-PARTS_OF_QUESTION:]
    if first in (LAB, TEXT) and len(parts) == PARTS_OF_QUESTION and parts[0] == ASK:
        plain = _step_from_code(f"{BETWEEN_PARTS.join([first, *rest[:-PARTS_OF_QUESTION]])}.{minutes}")
        return replace(plain, teachers_question=teachers_question(plain, parts[1], parts[2:5], parts[5]))
    if first == TEXT and len(rest) in (1, 2) and (title := teachers_words(rest[0], MAX_TITLE_LETTERS)):
        return LessonStep(
            int(minutes), slide=Slide(title, *(teachers_words(text, MAX_SLIDE_LETTERS) for text in rest[1:]))
        )
    if first == LAB and len(rest) % 2 == 0:
        config, problems = from_query(dict(zip(rest[::2], rest[1::2], strict=True)))
        if problems:
            raise ConfigError(problems)
        return lab_step(int(minutes), config)
    slug = resolve_name(first, (*PREPARED, *ISSUES, *COSTS), RENAMED)
    if slug in PREPARED and not rest:
        return replace(PREPARED[slug], minutes=int(minutes))
    if slug in COSTS and not rest:
        return LessonStep(int(minutes), slide=Slide("What do length, width and depth cost?", "The page Cost shows it."))
    if slug not in ISSUES or rest:
        raise _problem(first, f"lab, text with a title, or one of {', '.join((*PREPARED, *ISSUES))}")
    return LessonStep(int(minutes), slug)


def _problem(given: str, allowed: str) -> ConfigError:
    return ConfigError([Problem("lesson", given, allowed)])

"""The start page: what its blue button does, press by press, and the six steps to which it leads; what is said and shown meanwhile."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig
from engine.experiments.lessons import LESSONS, TUTORIAL, Guide, lab_step
from engine.experiments.run_readings import score_of
from engine.foundation.formatting import counted, percent
from engine.runs.run import Run
from engine.serving.health import Health
from engine.serving.processes.machines import HERE
from engine.settings.errors import ConfigError, Problem, not_one_of
from engine.settings.fields import setting, to_text
from pages.parts.app.page_state import ModelSettings, PageState, take_link
from pages.parts.app.recent_runs import start_run
from pages.parts.app.server import find
from pages.parts.boards.component import Json
from pages.parts.boards.recorded import recorded_run
from pages.parts.experiments.guided import keep_run, kept_run, name_in, show_guided
from pages.parts.experiments.question import guess_of, keep_answer

CONFIG = PRESETS["reverse"].config.replace(steps=100)
"""The lab's first example, which has learned its task after fifty steps."""
CPU = "CPU"
RUN, PRESSES = "start.run", "start.presses"
"""Session keys: the id of the run, and how often the button was pressed since it began."""
LESSON = LESSONS[TUTORIAL]


@dataclass(frozen=True)
class Press:
    """The button before it is pressed."""

    label: str
    icon: str
    says: str
    """What is said beside it, in Markdown."""
    view: Json = field(default_factory=dict)
    """What the picture shows meanwhile (``view`` of the board)."""


SKIP = "skip.0"
"""The part that is cut, by its name in the picture."""
WAY = (
    Press(
        "Train it yourself", ":material/play_arrow:",
        "This small transformer must write six digits backwards. It reads the question and the right answer so far, and writes the "
        "next digit. It is **untrained**, so it guesses.",
    ),
    Press(
        "Cut the dashed lines", ":material/content_cut:",
        "The dashed lines are *skip connections*: they lead past the head and the MLP. Does the model still answer without them?",
        {"marks": "skip"},
    ),
    Press(
        "Swap two digits", ":material/swap_horiz:",
        "Some answers are now wrong. The head still reads the right digit (blue), but the MLP after it changes some. Next the lines "
        "are back, and the first and last digits change places. Is the model still right?", {"ablated": [SKIP]},
    ),
    Press(
        "Go to the six steps", ":material/arrow_forward:",
        "The model has not seen this sequence. If it is right, it has learned where to look, not which digits to write.",
        {"swaps": [[0, CONFIG.seq_len - 1]]},
    ),
)  # fmt: skip
TRAINS = "The model trains. In the row “writes”, green is right and red is wrong."
DOORS: tuple[tuple[str, dict[str, str], str, str], ...] = (
    ("lab", {}, "science", "**Lab**: train your own"),
    ("questions", {}, "bug_report", "**Questions**: what fails"),
    ("depth", {}, "layers", "**Depth**: one dial, 48 layers"),
    ("lab", {"preset": "reverse-longer"}, "straighten", "**Reverse** longer sequences"),
    ("teach", {}, "school", "**Teach** your class"),
)
"""Addresses of pages, each with what follows it in the link, its icon and its words."""


def shown_run() -> Run | None:
    """The run of the last press on Train; the recorded one where none could be started."""
    name = st.session_state.get(RUN)
    return recorded_run() if name == recorded_run().id else find(name or "")


def present(run: Run | None) -> Press:
    """The button as it is now; while a run trains it stays as it was pressed."""
    return WAY[0 if run is None or run.live else st.session_state.get(PRESSES, 0)]


def sentence(now: Press, run: Run | None) -> str:
    """What is said beside the button; of a run that has ended, also what it learned."""
    if run is not None and run.live:
        return TRAINS
    score = score_of(run.config, run.events) if run is not None and now is WAY[1] else None
    before = f"**Now {percent(score.value)} of its answers to new sequences are right.** " if score else ""
    return f"{before}{now.says}"


def press() -> None:
    """Train; where that is refused, show the recorded run. Later presses change what the picture shows of the run, and the last one opens
    the first step; those that come while it trains, as a double click does, change nothing."""
    run = shown_run()
    if run is not None and run.live:
        return
    presses = st.session_state.get(PRESSES, 0) if run else 0
    if presses == 0:
        st.session_state[RUN] = (start_run(CONFIG) or recorded_run()).id
    if presses == len(WAY) - 1:
        open_step(1)
    else:
        st.session_state[PRESSES] = presses + 1


def start_over() -> None:
    st.session_state.pop(RUN, None)
    st.session_state.pop(PRESSES, None)


# The six steps, one after the other: what is chosen, what a link says of it, and the buttons


STEP, CHOICE, SEED, RUN_OF_STEP, GUESS = "step", "choice", "seed", "run", "guess"


def guide_of(number: int) -> Guide:
    """The step of that number, counted from 1."""
    guide = LESSON.steps[number - 1].guide
    assert guide is not None
    return guide


class StartState(PageState):
    step: int = setting(0, label="Step", help="Number of the step; 0 is the picture.", ge=0, le=len(LESSON.steps))
    choice: str = setting("", label="Choice", help="Value of the step's setting.")
    seed: int = setting(0, label="Seed", help="Seed of the step's run.", ge=0, le=2**31 - 1)
    run: str | None = None
    guess: int | None = setting(None, label="Guess", help="Your guess.", ge=-1, le=1)

    def config(self) -> RunConfig:
        """Return the settings of the step's run."""
        step, guide = LESSON.steps[self.step - 1], guide_of(self.step)
        chosen = next((value for value in guide.values if to_text(value) == self.choice), step.config.value(guide.vary))
        return step.config.replace(**{guide.vary: chosen, "seed": self.seed})

    def check(self) -> None:
        allowed = list(map(to_text, guide_of(self.step).values)) if self.step else []
        if self.choice and self.choice not in allowed:
            raise ConfigError([not_one_of(CHOICE, self.choice, allowed)])
        run = find(self.run) if self.run else None
        if self.run and not (self.step and run and LESSON.steps[self.step - 1].covers(run.config)):
            raise ConfigError([Problem(RUN_OF_STEP, self.run, "a run of this step that this server still has")])


class StartSettings(ModelSettings[StartState]):
    def open_address(self) -> tuple[dict[str, str], list[Problem]]:
        """The bare address is a link, too: to the picture."""
        link = take_link(self.key)
        if link is None:
            return {}, []
        values, ignored = self.read(link)
        run, guess = find(values[RUN_OF_STEP] or ""), values[GUESS]
        if run is not None:
            vary = guide_of(values[STEP]).vary
            values |= {CHOICE: to_text(run.config.value(vary)), SEED: run.config.seed}
        self.fill({**values, RUN_OF_STEP: None, GUESS: None})
        if run is not None:
            keep_run(name_now(), run.id)
        if values[STEP] and guess is not None:
            keep_answer(name_now(), guess)
        return link, ignored

    def take(self, name: str, value: Any) -> None:
        super().take(name, to_text(value) if name == CHOICE else value)

    def query(self, *others: Mapping[str, Any]) -> dict[str, str]:
        """Of a step also its run and the guess, so that a reload loses neither."""
        if not self.values()[STEP]:
            return {}
        run, guess = kept_run(name_now()), guess_of(name_now()).answer
        kept = {RUN_OF_STEP: run.id if run is not None else None, GUESS: guess}
        return super().query(*others) | {name: to_text(value) for name, value in kept.items() if value is not None}


SETTINGS = StartSettings("start", StartState)


def open_step(number: int) -> None:
    """Open the step of that number with its own settings; 0: the picture."""
    SETTINGS.put({STEP: number, CHOICE: "", SEED: 0})


def name_now() -> str:
    state = SETTINGS.state()
    return name_in(_visit(state), guide_of(state.step), state.config())


def run_of_step() -> Run | None:
    return kept_run(name_now())


def _visit(state: StartState) -> str:
    return f"start.{state.step}"


def show_step(run: Run | None) -> None:
    state = SETTINGS.state()
    guide, config = guide_of(state.step), state.config()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="start-step"):
        st.button("Back", icon=":material/arrow_back:", type="tertiary", on_click=open_step, args=(state.step - 1,))
        st.markdown(f":gray[Step {state.step} of {len(LESSON.steps)}]")
    bound = SETTINGS.bound(CHOICE, shown=config.value(guide.vary))
    show_guided(guide, _visit(state), config, run, bound=bound, buttons=_buttons(state, run))


def _buttons(state: StartState, run: Run | None) -> Callable[[bool], None]:
    """Train and the way on, of which the blue one is what comes next."""

    def draw(answered: bool) -> None:
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Train", icon=":material/play_arrow:", type="secondary" if answered else "primary", width="stretch",
                key="start.train", disabled=run is not None and run.live, on_click=_train, args=(state.config(),),
            )  # fmt: skip
            kind = "primary" if answered else "secondary"
            way: dict[str, Any] = {"type": kind, "icon": ":material/arrow_forward:", "width": "stretch"}
            if state.step < len(LESSON.steps):
                st.button("Next step", on_click=open_step, args=(state.step + 1,), **way)
            elif st.button("Open the lab", **way):
                st.switch_page("lab.py", query_params=lab_step(1, state.config()).query)

    return draw


def _train(config: RunConfig) -> None:
    if run := start_run(config):
        keep_run(name_now(), run.id)


def workers_in_words(health: Health) -> str:
    """Where runs are trained: on which devices, with how many workers, and on how many machines of a cluster. The address of a
    cluster that cannot be reached stands in the log: it is not the visitors'."""
    lost = " The cluster cannot be reached, so runs train on this app's machine."
    gone = lost if health.cluster_is_gone else ""
    if not health.ready:
        return f"The workers are starting.{gone}"
    torch = f"torch {health.device.get('torch', '')}"
    if there := health.on_cluster:
        kinds = Counter(worker.accelerator or CPU for worker in there)
        many = ", ".join(f"{number} on {name}" for name, number in kinds.items())
        kind = many if len(kinds) > 1 else next(iter(kinds))
        workers, machines = counted(len(there), "worker"), counted(len(health.hosts - {HERE}), "machine")
        return f"Your runs train on {workers} on {machines} of the cluster ({kind}), {torch}.{gone}"
    name = health.device.get("accelerator_name") or health.device.get("accelerator") or CPU
    return f"Your runs train on {name} with {counted(health.size, 'worker')}, {torch}.{gone}"

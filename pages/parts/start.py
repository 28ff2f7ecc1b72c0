"""The start page: a picture with one blue button, which leads to the six steps of a lesson."""

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
from engine.serving.processes.machines import APP_MACHINE
from engine.settings.errors import ConfigError, Problem, not_one_of
from engine.settings.fields import setting, to_text
from pages.parts.app.page_state import ModelSettings, PageState, take_link
from pages.parts.app.recent_runs import start_run
from pages.parts.app.server import find
from pages.parts.boards.component import Json
from pages.parts.boards.recorded import recorded_run
from pages.parts.experiments.guided import find_run, keep_run, name_in, show_guided
from pages.parts.experiments.question import guess_of, keep_answer

# the lab's first example, which has learned its task after fifty steps
CONFIG = PRESETS["reverse"].config.replace(steps=100)
CPU = "CPU"
RUN, PRESSES = "start.run", "start.presses"  # session keys: the id of the run, and the number of presses since it began
LESSON = LESSONS[TUTORIAL]


@dataclass(frozen=True)
class Press:
    label: str
    icon: str
    says: str  # Markdown, next to the button
    view: Json = field(default_factory=dict)  # of the picture, before the press


SKIP = "skip.0"  # the ablated part, by its name in the picture
WAY = (
    Press(
        "Train it yourself", ":material/play_arrow:",
        "This small transformer must write six symbols backwards. It reads the question and the right answer so far, and writes the "
        "next symbol. It is **untrained**, so it guesses.",
    ),
    Press(
        "Cut the dashed lines", ":material/content_cut:",
        "The dashed lines are *skip connections*: they lead past the head and the MLP. Are the answers still right without them?",
        {"marks": "skip"},
    ),
    Press(
        "Swap two symbols", ":material/swap_horiz:",
        "Some answers are now wrong. The head still reads the right symbol (blue), but the MLP changes some answers. "
        "Next, the lines come back, and the first and last symbols are swapped. Is the model still right?", {"ablated": [SKIP]},
    ),
    Press(
        "Go to the six steps", ":material/arrow_forward:",
        "This sequence is new to the model. If the answers are right, it has learned where to look, not what to write.",
        {"swaps": [[0, CONFIG.seq_len - 1]]},
    ),
)  # fmt: skip
TRAINS = "The model is training. In the row “writes”, green is right and red is wrong."
# page address, query, icon and words
DOORS: tuple[tuple[str, dict[str, str], str, str], ...] = (
    ("lab", {}, "science", "**Lab**: train your own"),
    ("questions", {}, "bug_report", "**Questions**: what fails"),
    ("depth", {}, "layers", "**Depth**: 1 to 48 layers"),
    ("lab", {"preset": "reverse-longer"}, "straighten", "**Lab**: longer sequences"),
    ("teach", {}, "school", "**Teach** your class"),
)


def shown_run() -> Run | None:
    # A session has the recorded run if none could start.
    name = st.session_state.get(RUN)
    return recorded_run() if name == recorded_run().id else find(name or "")


def present(run: Run | None) -> Press:
    return WAY[0 if run is None or run.live else st.session_state.get(PRESSES, 0)]


def sentence(now: Press, run: Run | None) -> str:
    if run is not None and run.live:
        return TRAINS
    score = score_of(run.config, run.events) if run is not None and now is WAY[1] else None
    before = f"**Now {percent(score.value)} of its answers to new sequences are right.** " if score else ""
    return f"{before}{now.says}"


def press() -> None:
    """Follow the blue button: train, then change the picture of the run, then open the first step."""
    run = shown_run()
    if run is not None and run.live:  # a double click changes nothing while it trains
        return
    presses = st.session_state.get(PRESSES, 0) if run else 0
    if presses == 0:
        st.session_state[RUN] = (start_run(CONFIG) or recorded_run()).id  # recorded where a run is refused
    if presses == len(WAY) - 1:
        open_step(1)
    else:
        st.session_state[PRESSES] = presses + 1


def start_over() -> None:
    st.session_state.pop(RUN, None)
    st.session_state.pop(PRESSES, None)


# The six steps: their state, their link and their buttons


STEP, CHOICE, SEED, RUN_OF_STEP, GUESS = "step", "choice", "seed", "run", "guess"


def guide_of(number: int) -> Guide:
    """Counted from 1."""
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
        link = take_link(self.key)  # the bare address is a link, too: to the picture
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
        """The query of a step includes its run and guess, so that a reload loses neither; the picture has none."""
        if not self.values()[STEP]:
            return {}
        run, guess = find_run(name_now()), guess_of(name_now()).answer
        stored = {RUN_OF_STEP: run.id if run is not None else None, GUESS: guess}
        return super().query(*others) | {name: to_text(value) for name, value in stored.items() if value is not None}


SETTINGS = StartSettings("start", StartState)


def open_step(number: int) -> None:
    """Open this step with its default settings; 0 opens the picture."""
    SETTINGS.put({STEP: number, CHOICE: "", SEED: 0})


def name_now() -> str:
    state = SETTINGS.state()
    return name_in(_visit(state), guide_of(state.step), state.config())


def run_of_step() -> Run | None:
    return find_run(name_now())


def _visit(state: StartState) -> str:
    return f"start.{state.step}"


def show_step(run: Run | None) -> None:
    state = SETTINGS.state()
    guide, config = guide_of(state.step), state.config()
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="start-step"):
        st.button("Back", icon=":material/arrow_back:", type="tertiary", on_click=open_step, args=(state.step - 1,))
        st.markdown(f":gray[Step {state.step} of {len(LESSON.steps)}]")
    bound = SETTINGS.bound(CHOICE, display=config.value(guide.vary))
    show_guided(guide, _visit(state), config, run, bound=bound, buttons=_buttons(state, run))


def _buttons(state: StartState, run: Run | None) -> Callable[[bool], None]:
    def draw(answered: bool) -> None:
        trains = run is not None and run.live
        with st.container(horizontal=True, gap="small"):
            st.button(
                "Training" if trains else "Train", icon=":material/play_arrow:", type="secondary" if answered else "primary",
                width="stretch", key="start.train", disabled=trains, on_click=_train, args=(state.config(),),
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
    unreachable = " The cluster cannot be reached, so runs train on this app's machine."
    # Without the cluster's address, which is for the log only.
    warning = unreachable if health.cluster_is_gone else ""
    if not health.ready:
        return f"The workers are starting.{warning}"
    torch = f"torch {health.device.get('torch', '')}"
    if there := health.on_cluster:
        kinds = Counter(worker.accelerator or CPU for worker in there)
        many = ", ".join(f"{number} on {name}" for name, number in kinds.items())
        kind = many if len(kinds) > 1 else next(iter(kinds))
        workers, machines = counted(len(there), "worker"), counted(len(health.hosts - {APP_MACHINE}), "machine")
        return f"Your runs train on {workers} on {machines} of the cluster ({kind}), {torch}.{warning}"
    name = health.device.get("accelerator_name") or health.device.get("accelerator") or CPU
    return f"Your runs train on {name} with {counted(health.size, 'worker')}, {torch}.{warning}"

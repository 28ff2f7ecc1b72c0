"""What is chosen on the attention page: the run, the head and what is done to it. A link names the same."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal

import numpy as np
import streamlit as st
from pydantic import AfterValidator, field_validator

from engine.analysis.attention.jobs import TrainAgain
from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import (
    FAULTS,
    MAX_ATTENTION_WEIGHTS,
    ModelRequest,
    SampleRequest,
    Which,
    attentions_of,
    file_of,
    weights_of_one_sequence,
)
from engine.config.link import to_query
from engine.config.run_config import RunConfig
from engine.estimate.prediction import predict
from engine.foundation.formatting import in_time
from engine.runs.events import Snapshot
from engine.runs.run import Run
from engine.settings.errors import Problem
from engine.settings.fields import setting, whole_number
from engine.tasks import TASKS
from pages.parts.app.page_state import ModelSettings, PageState, all_known, not_allowed
from pages.parts.app.questions import ANSWER_SECONDS, ask
from pages.parts.app.server import find
from pages.parts.boards.panels import Panel, Picked, panels
from pages.parts.boards.recorded import FOLDERS, RECORDED, recorded_runs, run_in_words, run_named, runs_of_visitor
from pages.parts.charts.attention import pattern_picture

VIEWS = {"steps": "Steps", "heads": "Heads", "change": "Change", "training": "Training", "faults": "Faults"}
EXPLAINED = {
    "heads": "Where every head looks, how wide and how far, and what kind of head that makes it.",
    "change": "Change attention in the trained model and see what it costs on held-out sequences. The weights stay as they are.",
    "training": "The same head at two steps of its training, reading the same sequence.",
    "faults": "Each switch breaks the forward pass of this model on purpose; its weights stay. Every test is run anew on what you see.",
}
LONGEST_TEXT = 2000
MOST_LAYERS, MOST_HEADS, MOST_POSITIONS, MOST_STEPS = 48, 64, 4096, 1_000_000
KINDS: dict[Which, str] = {"self": "Self-attention", "encoder": "Encoder", "cross": "Cross-attention"}
HEAD = re.compile(rf"({'|'.join(KINDS)})(\.[0-9]{{1,3}}){{2}}")
TEMPERATURES = (0.1, 0.2, 0.35, 0.5, 0.7, 0.85, 1.0, 1.2, 1.5, 2.0, 3.0, 5.0, 10.0)
CELLS, KEYS_ACROSS, KEYS_DOWN = ("key", "query"), ("key", ""), ("", "key")
"""The names of a figure's columns and rows; figures with a common name highlight together."""


class AttentionState(PageState):
    """The choices. Layers, heads and positions count from 1, as shown; samples from 0. None is the run's own default."""

    REMOVED = MappingProxyType(
        {"exchanged": "The exchange of a path between two sequences was removed; switch heads off to see what they do."}
    )

    # fmt: off
    run: str = setting("", label="Run", help="Your runs that have ended, and two that come with the app.")
    """An id, or the name of a recorded run; empty for the reader's newest run."""
    view: Literal["steps", "heads", "change", "training", "faults"] = setting("steps", label="View", help="", labels=VIEWS)
    which: Which = setting("self", label="Attention", help="", labels={name: KINDS[name] for name in KINDS})
    layer: int | None = setting(None, label="Layer", help="", ge=1, le=MOST_LAYERS)
    head: int | None = setting(None, label="Head", help="", ge=1, le=MOST_HEADS)
    position: int | None = setting(
        None, label="Query", help="Position of the token that reads. Or click a row of the pattern.", ge=1, le=MOST_POSITIONS,
    )
    sample: int = setting(0, label="Held-out sequence", help="Sequences that the run never trained on.", ge=0, le=255)
    text: str = setting("", label="Or your own tokens", help="Leave it empty to see the held-out sequence.")
    step: int | None = setting(
        None, label="Step", ge=0, le=MOST_STEPS,
        help="A run of yours keeps the weights of its end, and an earlier step is trained again. That of the app in one layer has all.",
    )
    before: int | None = setting(None, label="Before: step", help="", ge=0, le=MOST_STEPS)
    after: int | None = setting(None, label="After: step", help="", ge=0, le=MOST_STEPS)
    temperature: float = setting(
        1.0, label="Temperature of every softmax", ge=TEMPERATURES[0], le=TEMPERATURES[-1],
        help="Scores are divided by it. Below 1 the weights get sharper, above 1 flatter.",
    )
    off: tuple[str, ...] = setting(
        (), label="Heads switched off", help="What a head switched off hands on is zero, at every position.",
    )
    """As ``self.1.2``: kind, layer, head."""
    faults: Annotated[tuple[str, ...], AfterValidator(lambda names: all_known(names, FAULTS))] = setting((), label="Faults", help="")
    # fmt: on

    @field_validator("run")
    @classmethod
    def _kept(cls, name: str) -> str:
        if name not in ("", *FOLDERS) and find(name) is None:
            raise not_allowed(f"the id of a run that is kept here, or {' or '.join(FOLDERS)}")
        return name

    @field_validator("text")
    @classmethod
    def _short(cls, text: str) -> str:
        if len(text) > LONGEST_TEXT:
            raise not_allowed(f"at most {LONGEST_TEXT} characters")
        return text

    @field_validator("temperature")
    @classmethod
    def _listed(cls, value: float) -> float:
        if value not in TEMPERATURES:
            raise not_allowed("one of " + ", ".join(f"{listed:g}" for listed in TEMPERATURES))
        return value

    @field_validator("off")
    @classmethod
    def _heads(cls, heads: tuple[str, ...]) -> tuple[str, ...]:
        if not all(map(HEAD.fullmatch, heads)):
            raise not_allowed("heads as self.1.2 (kind, layer, head), separated by commas")
        return heads


class AttentionSettings(ModelSettings[AttentionState]):
    """Another run starts from its own defaults; the view stays."""

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any], list[Problem]]:
        """Links of earlier versions name the ``query``, counted from 0."""
        at = whole_number(query.get("query", ""), 0, MOST_POSITIONS - 1)
        if at is not None:
            query = {"position": str(at + 1)} | {name: text for name, text in query.items() if name != "query"}
        return super().read(query)

    def take(self, name: str, value: Any) -> None:
        if name == "run":
            self.fill(self.defaults() | {"run": value, "view": self.values()["view"]})
        else:
            super().take(name, value)


SETTINGS = AttentionSettings("attention", AttentionState)


def pick_query(picked: Picked) -> None:
    SETTINGS.put({"position": int(float(picked.y))})


def address(run: str) -> dict[str, str]:
    """The query of what is on the page. The run that is shown is named, unless it is the recorded one."""
    others = {name: text for name, text in SETTINGS.query().items() if name != "run"}
    return ({} if run == RECORDED else {"run": run}) | others


def fitted(now: AttentionState, config: RunConfig) -> AttentionState:
    """The choices with defaults for those that this run does not have; the default layer is the last."""
    which = now.which if now.which in attentions_of(config) else "self"
    layer = now.layer if now.layer is not None and now.layer <= config.n_layers else config.n_layers
    head = now.head if now.head is not None and now.head <= config.n_heads else min(2, config.n_heads)
    return now.model_copy(update={"which": which, "layer": layer, "head": head})


def name_of_head(part: Part) -> str:
    kind = {"self": "", "encoder": "enc ", "cross": "cross "}[part.which]
    return f"{kind}L{part.layer + 1} H{part.head + 1}"


@dataclass(frozen=True)
class LookedAt:
    """The model, the sequence and the head that a view shows."""

    run: Run
    model: ModelRequest
    now: AttentionState
    part: Part
    sample: SampleRequest
    queries: list[str]
    keys: list[str]
    query: int
    """The index of the query, from 0."""
    color: str

    @property
    def config(self) -> RunConfig:
        return self.run.config

    @property
    def head(self) -> str:
        return name_of_head(self.part)

    def show(self, key: str, name: str, items: Sequence[Panel], *, least: int = 300, **more: Any) -> None:
        """Show the figures of a view; zoom is kept as long as run and sequence are the same."""
        subject = f"{self.now.run} {self.part.which} {len(self.queries)} {len(self.keys)}"
        panels(items, key=f"attention.{key}", name=name, subject=subject, least=least, **more)

    def pattern_panel(
        self, id: str, title: str, pattern: np.ndarray, alt: str, *, framed: bool = True, bar: bool = True, **more: Any
    ) -> Panel:
        """A pattern [query, key] of the sequence. ``framed``: whether the query is."""
        query = self.query if framed else None
        drawn = pattern_picture(pattern, self.queries, self.keys, query=query, bar=bar)
        usual: dict[str, Any] = {"height": 340, "link": CELLS}
        return Panel(id, title, drawn, alt, **usual | more)


def held_out_label(name: str) -> str:
    return {"loss": "Held-out loss (nats)"}.get(name, name.replace("_", " ").capitalize())


# The runs to choose from


MAX_RETRAINING_SECONDS = 5.0
"""The most seconds of training again that a reader may ask for."""
SLICE = 0.25
"""Seconds of that training between two updates of the progress."""


def own_runs() -> dict[str, Run]:
    """This visitor's runs whose attention can be shown from weights that are stored, by id."""
    return runs_of_visitor(lambda run: bool(run.weights) and not why_not(run))


def choices(now: AttentionState) -> dict[str, str]:
    """The runs to choose from, id to label: this visitor's, the one of the link, and the recorded ones."""
    own = own_runs()
    linked = {} if now.run in own else runs_of_visitor(lambda _: False, run_named(now.run))
    return {name: run_in_words(run) for name, run in (linked | own | recorded_runs()).items()}


def why_not(run: Run) -> str:
    """The reason why a run's attention cannot be shown, in one sentence; empty where it can."""
    if not run.config.architecture.attends:
        return f"This run is of family {run.config.family}, which has no attention."
    if weights_of_one_sequence(run.config) > MAX_ATTENTION_WEIGHTS:
        return (
            f"This run has more than {MAX_ATTENTION_WEIGHTS // 1_000_000} million attention weights per sequence: "
            "too many to look at one by one."
        )
    if run.live:
        return "This run is still going; its attention can be taken apart when it has ended."
    if run.state in ("failed", "lost") and not run.weights:
        return f"This run {'failed' if run.state == 'failed' else 'was lost'} and left no weights."
    return ""


def steps_to_show(run: Run) -> list[int]:
    """The steps of a run that can be shown: those of its snapshots, and its last."""
    return sorted({event.step for event in run.events.of(Snapshot)} | {run.step})


def asked_model(run: Run, step: int | None) -> ModelRequest:
    """The model of a run at a step; None is the last step."""
    kept = run.weights_at(run.step if step is None else step)
    last = step is None or step == (run.step if kept else run.config.steps)
    return ModelRequest(run.config, str(kept or ""), None if last else step)


def seconds_to(run: Run, step: int) -> float:
    """The seconds of training up to a step: as predicted for this machine, otherwise as measured in the run."""
    predicted, last = predict(run.config), run.progress
    if predicted.steps_per_second:
        return step / predicted.steps_per_second
    return step * predicted.tokens_per_step / last.tokens_per_second if last else float("inf")


def at_hand(request: ModelRequest) -> bool:
    """Whether the model's weights are available: untrained, stored by the run, or stored by training again."""
    return request.step == 0 or bool(request.weights) or file_of(request).exists()


def ready(run: Run, request: ModelRequest) -> bool:
    """Whether the model can be analysed; where its weights are not stored, offers to train it again."""
    if at_hand(request):
        return True
    step, seconds = request.at_step, seconds_to(run, request.at_step)
    if seconds > MAX_RETRAINING_SECONDS:
        words = f"The weights of step {step} are not kept, and training up to it again takes about {in_time(seconds)}"
        st.info(f"{words}: the patterns that were kept are under “Training”.", icon=":material/inventory_2:")
        return False
    if not st.button(f"Train again up to step {step} (about {in_time(seconds)})", icon=":material/replay:"):
        again = "On a CPU the same settings and seed give them again; on a GPU nearly the same ones."
        st.caption(f"The weights of this step were not kept. {again}")
        return False
    with st.empty():
        while (at := ask(TrainAgain(request, SLICE), timeout=ANSWER_SECONDS)) < step:
            st.progress(at / step, f"Training it again: step {at} of {step}")
        st.empty()
    return True


def run_controls(now: AttentionState) -> None:
    runs = choices(now)
    if SETTINGS.drawn("run"):
        bound = SETTINGS.labelled("run", shown=now.run if now.run in runs else None)
        st.selectbox(options=list(runs), format_func=lambda name: runs.get(name, name), width=430, **bound)
    run = run_named(now.run)
    if run is None:
        return
    with st.popover("Step and sequence", icon=":material/tune:"):
        if now.view != "training" and SETTINGS.drawn("step"):  # that view has two steps of its own
            steps = steps_to_show(run)
            bound = SETTINGS.labelled("step", shown=now.step if now.step in steps else run.step)
            st.selectbox(options=steps, format_func=lambda at: f"{at} (end)" if at == run.step else str(at), **bound)
        sample_controls(now, run)
        kept = {} if now.run in FOLDERS else {"run": run.id}
        st.page_link("lab.py", label="In the lab", icon=":material/science:", query_params=to_query(run.config) | kept)


def sample_controls(now: AttentionState, run: Run) -> None:
    if SETTINGS.drawn("sample"):
        bound = SETTINGS.labelled("sample", shown=now.sample, disabled=bool(now.text.strip()))
        st.number_input(min_value=0, max_value=255, step=1, **bound)
    if SETTINGS.drawn("text"):
        bound = SETTINGS.labelled("text", shown=now.text)
        task = TASKS[run.config.task]
        how, example = "Token names with spaces or commas between them.", task.sample.split(" →")[0].split(": ")[-1]
        if task.corpus:
            how = "Any sentence, as you would write it. What the vocabulary does not have is read as the unknown token."
            example = "To be, or not to be"
        st.text_input(placeholder=f"as in {example}", **bound | {"help": f"{how} {bound['help']}"})


def head_controls(at: LookedAt) -> None:
    kinds, config = attentions_of(at.config), at.config
    if len(kinds) > 1 and SETTINGS.drawn("which"):
        bound = SETTINGS.labelled("which", shown=at.part.which)
        st.segmented_control(options=kinds, format_func=KINDS.__getitem__, required=True, **bound)
    layer, head = at.part.layer + 1, at.part.head + 1
    shown = {
        "layer": (1, layer, config.n_layers),
        "head": (1, head, config.n_heads),
        "position": (1, at.query + 1, len(at.queries)),
    }
    for name in SETTINGS.drawn(*shown):
        low, value, high = shown[name]
        st.number_input(min_value=low, max_value=high, step=1, width=130, **SETTINGS.labelled(name, shown=value))

"""The run, step, sequence and head to analyse, and training the model again where its weights are not stored."""

import streamlit as st

from engine.analysis.attention.asked import LARGEST, ModelAsked, file_of, places_in, weights_of_one_sequence
from engine.analysis.attention.jobs import TrainAgain
from engine.config.link import to_query
from engine.estimate.prediction import predict
from engine.foundation.formatting import in_time
from engine.runs.events import Snapshot
from engine.runs.run import Run
from engine.tasks import TASKS
from pages.parts.app.questions import TIMEOUT, ask
from pages.parts.attention.state import KINDS, SETTINGS, AttentionState, LookedAt
from pages.parts.boards.recorded import FOLDERS, recorded_runs, run_in_words, run_named, runs_of_visitor

LONGEST = 5.0
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
    if weights_of_one_sequence(run.config) > LARGEST:
        return f"This run has more than {LARGEST // 1_000_000} million attention weights per sequence: too many to look at one by one."
    if run.live:
        return "This run is still going; its attention can be taken apart when it has ended."
    if run.state in ("failed", "lost") and not run.weights:
        return f"This run {'failed' if run.state == 'failed' else 'was lost'} and left no weights."
    return ""


def steps_to_show(run: Run) -> list[int]:
    """The steps of a run that can be shown: those of its snapshots, and its last."""
    return sorted({event.step for event in run.events.of(Snapshot)} | {run.step})


def asked_model(run: Run, step: int | None) -> ModelAsked:
    """The model of a run at a step; None is the last step."""
    kept = run.weights_at(run.step if step is None else step)
    last = step is None or step == (run.step if kept else run.config.steps)
    return ModelAsked(run.config, str(kept or ""), None if last else step)


def seconds_to(run: Run, step: int) -> float:
    """The seconds of training up to a step: as predicted for this machine, otherwise as measured in the run."""
    predicted, last = predict(run.config), run.progress
    if predicted.steps_per_second:
        return step / predicted.steps_per_second
    return step * predicted.tokens_per_step / last.tokens_per_second if last else float("inf")


def at_hand(asked: ModelAsked) -> bool:
    """Whether the model's weights are available: untrained, stored by the run, or stored by training again."""
    return asked.step == 0 or bool(asked.weights) or file_of(asked).exists()


def ready(run: Run, asked: ModelAsked) -> bool:
    """Whether the model can be analysed; where its weights are not stored, offers to train it again."""
    if at_hand(asked):
        return True
    step, seconds = asked.at_step, seconds_to(run, asked.at_step)
    if seconds > LONGEST:
        words = f"The weights of step {step} are not kept, and training up to it again takes about {in_time(seconds)}"
        st.info(f"{words}: the patterns that were kept are under “Training”.", icon=":material/inventory_2:")
        return False
    if not st.button(f"Train again up to step {step} (about {in_time(seconds)})", icon=":material/replay:"):
        again = "On a CPU the same settings and seed give them again; on a GPU nearly the same ones."
        st.caption(f"The weights of this step were not kept. {again}")
        return False
    with st.empty():
        while (at := ask(TrainAgain(asked, SLICE), timeout=TIMEOUT)) < step:
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
    kinds, config = places_in(at.config), at.config
    if len(kinds) > 1 and SETTINGS.drawn("which"):
        bound = SETTINGS.labelled("which", shown=at.place.which)
        st.segmented_control(options=kinds, format_func=KINDS.__getitem__, required=True, **bound)
    layer, head = at.place.layer + 1, at.place.head + 1
    shown = {
        "layer": (1, layer, config.n_layers),
        "head": (1, head, config.n_heads),
        "position": (1, at.query + 1, len(at.queries)),
    }
    for name in SETTINGS.drawn(*shown):
        low, value, high = shown[name]
        st.number_input(min_value=low, max_value=high, step=1, width=130, **SETTINGS.labelled(name, shown=value))

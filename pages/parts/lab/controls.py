"""The buttons of a run: Train and Pause, and in a menu Step, Stop, Reset, New seed and the pace."""

import streamlit as st

from engine.config.run_config import RunConfig
from engine.runs.run import Run
from pages.parts.app import own_runs
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.lab.state import fill_form, form_config

PACES = {"Full speed": None, "20 steps per second": 20.0, "5 steps per second": 5.0, "1 step per second": 1.0}
PACE = "pace"


def submit(config: RunConfig, *, paused: bool = False) -> None:
    """Start a run at the chosen pace and show it, unless it is refused."""
    if run := own_runs.start_run(config, pace=PACES[st.session_state.get(PACE, "Full speed")], paused=paused):
        own_runs.show_run(run.id)


def controls(run: Run | None, config: RunConfig | None) -> None:
    """The buttons and the menu. ``config`` is the form's config, None where its settings do not go together."""
    with st.container(horizontal=True, gap="xxsmall", key="lab-steer"):
        st.button(
            "Train", type="primary", icon=":material/play_arrow:", width="stretch", disabled=config is None,
            on_click=_train,
        )  # fmt: skip
        own_runs.pause_button(run)
        with st.popover("More", key="lab-more"):
            st.button(
                "Step", icon=":material/skip_next:", help="Exactly one optimizer step.", on_click=_step, args=(run,),
                disabled=config is None,
            )  # fmt: skip
            own_runs.steering_button("stop", run)
            st.button(
                "Reset", icon=":material/replay:", help="The same first weights again, waiting at step 0.",
                disabled=run is None, on_click=_reset, args=(run,),
            )  # fmt: skip
            st.button(
                "New seed", icon=":material/casino:", help="Other first weights and other data; trains at once.",
                disabled=config is None, on_click=_new_seed,
            )  # fmt: skip
            st.selectbox(
                "Pace", PACES, key=PACE, on_change=_set_pace, args=(run,),
                help="Full speed learns the classic task in a third of a second; slower lets a class see it happen.",
            )  # fmt: skip
    own_runs.say_watching(run)


# A press may come together with a setting that does not go with the others: the button was drawn before.


@refused_in_words()
def _train() -> None:
    submit(form_config())


@refused_in_words()
def _step(run: Run | None) -> None:
    """Take one step of the shown run, or of a new one if it has ended."""
    if not own_runs.can_steer(run):
        submit(form_config(), paused=True)
        run = own_runs.shown_run()
    if run is not None and own_runs.can_steer(run):
        own_runs.steer("step", run.id)


def _reset(run: Run) -> None:
    if own_runs.can_steer(run):
        own_runs.steer("stop", run.id)
    fill_form(run.config)
    submit(run.config, paused=True)


@refused_in_words()
def _new_seed() -> None:
    config = form_config()
    config = config.replace(seed=(config.seed + 1) % 2**31)
    fill_form(config)
    submit(config)


def _set_pace(run: Run | None) -> None:
    if run is not None and own_runs.can_steer(run):
        own_runs.steer("set pace", run.id, PACES[st.session_state[PACE]])

"""The lab's controls: the main settings, all others behind More, the list of tasks, the buttons of a run, and the
picture of the model, in which each part is a control."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st

from engine.config.presets import BLOCKS, PRESETS
from engine.config.run_config import RunConfig, changes_between
from engine.runs.run import Run
from engine.settings.architectures import ARCHITECTURES
from engine.settings.errors import ConfigError
from engine.settings.fields import Setting
from engine.tasks import BY_GROUP, TASKS
from engine.tasks.base import GROUPS, TaskSpec
from pages.parts.app import recent_runs
from pages.parts.app.frame import as_fragment, last_received, received
from pages.parts.app.in_markdown import refused_in_words
from pages.parts.app.recent_runs import RUN_KEY
from pages.parts.boards.component import Json
from pages.parts.boards.live.stack import StackPart, part_kinds, stack_of
from pages.parts.lab.apart_state import choose
from pages.parts.lab.state import PRESET, SETTINGS, WATCHED, fill_form, form_config
from pages.parts.lab.text import choose_text

# visible row by row; all others are behind More
MAIN = (("task",), ("pos_encoding",), ("n_layers", "n_heads", "seq_len"))
IN_SIGHT = [*(name for names in MAIN for name in names), "text"]
FEW = 6  # further settings that need no More, where a link hides the rest
OPEN_GROUP = "lab.open_group"  # session key of the group of settings that is open above the others
ICONS = {
    "Task": ":material/assignment:",
    "Shape": ":material/straighten:",
    "Encoding": ":material/pin_drop:",
    "Attention": ":material/visibility:",
    "Block": ":material/layers:",
    "Training": ":material/model_training:",
    "Data": ":material/database:",
    "Faults": ":material/bug_report:",
}
IN_GROUPS = tuple(task.name for tasks in BY_GROUP.values() for task in tasks)  # in the order of the page


def main_settings() -> None:
    with st.container(gap="xsmall", key="lab-settings"):  # close together, so that all fit
        for names in (*MAIN, *([row.name] for row in _few())):
            drawn = SETTINGS.visible(*names)
            if drawn == ["task"]:
                values = SETTINGS.requested()
                SETTINGS.widget(
                    "task", choices=IN_GROUPS, format_func=partial(_with_sample, values), help=TASKS[values["task"]].summary
                )  # fmt: skip
                choose_text()
            elif drawn:
                with st.grid(len(drawn), min_column_width=48, gap=("xxsmall", "small")):
                    for name in drawn:
                        SETTINGS.widget(name)


def more_in_words() -> str:
    return _heading("More", _folded())


def other_settings() -> None:
    if SETTINGS.visible(PRESET):
        st.selectbox(
            "Example", PRESETS, index=None, key="preset", placeholder="Start from an example", on_change=_take_preset,
            format_func=lambda slug: f"{'✓' if PRESETS[slug].expects == 'learns' else '✗'} {PRESETS[slug].title}",
            disabled=SETTINGS.locks(PRESET),
        )  # fmt: skip
    if SETTINGS.visible("task"):
        as_fragment(_button)
    rest = _folded()
    for group in dict.fromkeys(row.group for row in rest):
        specific = [row for row in rest if row.group == group]
        stay_open(key := f"group.{group}")
        section = st.expander(_heading(group, specific), icon=ICONS.get(group), key=key, on_change="rerun")
        if section.open:
            with section:
                _widgets(group, specific)


def stay_open(key: str) -> None:
    """Let an open expander stay open when a setting in it changes the number in its title."""
    if st.session_state.get(key):
        st.session_state[key] = True  # another title is another expander for Streamlit, closed at first


def _take_preset() -> None:
    if slug := st.session_state.pop("preset", None):
        fill_form(PRESETS[slug].config)
        st.session_state.pop(RUN_KEY, None)  # it remains among the recent runs
        st.session_state[WATCHED] = slug


def open_settings(group: str) -> None:
    st.session_state[OPEN_GROUP] = group


def show_open_group() -> None:
    group = st.session_state.get(OPEN_GROUP)
    specific = [row for row in _settings_out_of_sight() if row.group == group]
    if not specific or _few():
        return
    with st.container(border=True, key="lab-opened"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"{ICONS.get(str(group), '')} **{group}**")
            st.button("Close", key="lab.close", type="tertiary", on_click=open_settings, args=("",))
        _widgets(str(group), specific)


def _settings_out_of_sight() -> list[Setting]:
    """Return all settings besides the main ones that the link does not hide."""
    rows = SETTINGS.rows()
    return [rows[name] for name in SETTINGS.visible(*rows) if name not in IN_SIGHT]


def _few() -> list[Setting]:
    """Return the other settings if a link leaves so few that they need no More."""
    rest = _settings_out_of_sight()
    return rest if len(rest) <= FEW else []


def _folded() -> list[Setting]:
    return (
        [row for row in _settings_out_of_sight() if row.group != st.session_state.get(OPEN_GROUP)] if not _few() else []
    )


def _widgets(group: str, rows: Iterable[Setting]) -> None:
    if group == "Faults":
        st.caption("Break the model on purpose, and see what each detail is for.")
    if group == "Block":
        _blocks()
    for row in rows:
        SETTINGS.widget(row.name)


def _blocks() -> None:
    values, rows = SETTINGS.requested(), SETTINGS.rows()
    if not ARCHITECTURES[values["family"]].attends:
        return
    for block in BLOCKS.values():
        changes = block.changes(values, values["n_heads"])
        if all(map(_free, changes)):
            words = ", ".join(f"{rows[name].label} {rows[name].words(new)}" for name, new in changes.items())
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.button(
                    block.title, key=f"lab.block.{block.slug}", help=block.source, disabled=not changes,
                    on_click=SETTINGS.put, args=(changes,),
                )  # fmt: skip
                st.caption(f"Changes: {words}." if changes else "These are your settings.")


def _heading(group: str, rows: Iterable[Setting]) -> str:
    values = SETTINGS.requested()
    changed = sum(values[row.name] != row.default for row in rows)
    return f"{group} · {changed} changed" if changed else group


def _with_sample(values: Mapping[str, Any], name: str) -> str:
    """Return a task's label with its worked example. The selected task's example has the settings in ``values``."""
    task = TASKS[name]
    if task.corpus:
        return task.label
    if name != values["task"]:
        return f"{task.label} · {task.sample}"
    specific = task.settings(**{specific: values[specific] for specific in task.settings.model_fields})
    return f"{task.label} · {specific.sample(task.sample)}"


def _button() -> None:
    # a fragment: opening the list runs nothing else of the page
    if st.button("All tasks", key="lab.tasks", type="tertiary", disabled=SETTINGS.locks("task")):
        _list()


@st.dialog("All tasks", width="large")
def _list() -> None:
    columns = st.columns(2, gap="medium")
    for number, (group, tasks) in enumerate(BY_GROUP.items()):
        with columns[number >= len(BY_GROUP) // 2], st.container(gap="xsmall"):
            st.subheader(GROUPS[group], anchor=False)
            for task in tasks:
                _show(task)


def _show(task: TaskSpec) -> None:
    here = task.name == SETTINGS.requested()["task"]
    with st.container(gap=None):
        if st.button(
            f"**{task.label}** · {task.sample}", key=f"lab.tasks.{task.name}", type="tertiary",
            icon=":material/check:" if here else None, on_click=_choose, args=(task.name,),
        ):  # fmt: skip
            st.rerun()  # closes the list
        st.caption(task.summary)


def _choose(name: str) -> None:
    SETTINGS.take("task", name)
    SETTINGS.put({"task": name})


# The buttons of a run: Train, Pause and Stop; behind More Step, Reset, New seed and the pace


PACES = {"Full speed": None, "20 steps per second": 20.0, "5 steps per second": 5.0, "1 step per second": 1.0}
PACE = "pace"


def submit(config: RunConfig, *, paused: bool = False) -> None:
    if run := recent_runs.start_run(config, pace=PACES[st.session_state.get(PACE, "Full speed")], paused=paused):
        recent_runs.show_run(run.id)


def run_buttons(run: Run | None, config: RunConfig | None) -> None:
    """Draw Train, and while a run can be steered Pause and Stop. ``config`` is None where the form's settings
    contradict each other."""
    with st.container(horizontal=True, gap="xxsmall", key="lab-run"):
        st.button(
            "Train", type="primary", icon=":material/play_arrow:", width="stretch", disabled=config is None,
            on_click=_train,
        )  # fmt: skip
        if recent_runs.can_steer(run):
            recent_runs.pause_button(run)
            recent_runs.steering_button("stop", run)
    recent_runs.say_watching(run)


def steering(run: Run | None, config: RunConfig | None) -> None:
    with st.container(horizontal=True, gap="xxsmall", key="lab-steer"):
        st.button(
            "Step", icon=":material/skip_next:", help="Exactly one optimizer step.", on_click=_step, args=(run,),
            disabled=config is None,
        )  # fmt: skip
        st.button(
            "Reset", icon=":material/replay:", help="Back to step 0 with the same initial weights.",
            disabled=run is None, on_click=_reset, args=(run,),
        )  # fmt: skip
        st.button(
            "New seed", icon=":material/casino:", help="Trains with other initial weights and other data.",
            disabled=config is None, on_click=_new_seed,
        )  # fmt: skip
    st.selectbox(
        "Pace", PACES, key=PACE, on_change=_set_pace, args=(run,),
        help="Slower lets a class watch.",
    )  # fmt: skip


# A press may arrive together with a setting that contradicts the others: the button was drawn before.


@refused_in_words()
def _train() -> None:
    submit(form_config())


@refused_in_words()
def _step(run: Run | None) -> None:
    """Take one step of the visible run, or of a new one if it has ended."""
    if not recent_runs.can_steer(run):
        submit(form_config(), paused=True)
        run = recent_runs.shown_run()
    if run is not None and recent_runs.can_steer(run):
        recent_runs.steer("step", run.id)


def _reset(run: Run) -> None:
    if recent_runs.can_steer(run):
        recent_runs.steer("stop", run.id)
    fill_form(run.config)
    submit(run.config, paused=True)


@refused_in_words()
def _new_seed() -> None:
    config = form_config()
    config = config.replace(seed=(config.seed + 1) % 2**31)
    fill_form(config)
    submit(config)


def _set_pace(run: Run | None) -> None:
    if run is not None and recent_runs.can_steer(run):
        recent_runs.steer("set pace", run.id, PACES[st.session_state[PACE]])


# The picture of the model as a control: a click on a part changes settings or opens them


TRAINING = ("Training", "Data")  # groups of settings that do not change the model
KEY = "board"
RECEIVED = "board.received"  # session key of the number of the last click on a part


def model_of(config: RunConfig, run_config: RunConfig | None) -> Json:
    """Return the model of the picture as JSON, for the run on the board, else for the form. The controls belong to
    ``config``, the form's."""
    model = stack_of(run_config or config)
    changed = run_config is not None and any(
        row.group not in TRAINING for row, _, _ in changes_between(run_config, config)
    )
    open_groups = {row.group for row in SETTINGS.rows().values() if _free(row.name)}
    parts = {
        name: part | {"opens": kind.opens if kind.opens in open_groups else "", "trains": _trains(config, kind)}
        for name, part in model["parts"].items()
        for kind in [part_kinds()[name]]
    }
    return model | {"parts": parts, "changed": changed, "controls": True, "received": last_received(RECEIVED)}


def act() -> None:
    """Apply clicks on parts of the picture: change settings, open a group, train, or select a head."""
    changes: Json = {}
    for request in received((st.session_state.get(KEY) or {}).get("act"), RECEIVED):
        values = request.get("set")
        changes |= {name: value for name, value in values.items() if _free(name)} if isinstance(values, dict) else {}
        if request.get("open"):
            open_settings(str(request["open"]))
        if isinstance(request.get("apart"), dict):
            choose(request["apart"])
    if changes:
        SETTINGS.put(changes)
        with suppress(ConfigError):  # the page says which settings do not go together
            submit(form_config())


def _trains(config: RunConfig, kind: StackPart) -> Json | None:
    """Return the settings that train a model without the part, or with it again; None if there is nothing to change."""
    if kind.without:
        lacks = kind.is_off(config) or kind.is_broken(config)
        label = f"Train {'with' if lacks else 'without'} {kind.noun}"
        sets: Json = dict(kind.restored if lacks else kind.without)
    elif kind.fewer and getattr(config, kind.fewer) > 1:
        label, sets = f"Train with one {kind.noun} fewer", {kind.fewer: getattr(config, kind.fewer) - 1}
        if kind.fewer == "n_heads":  # the others keep their width
            sets["d_head"] = config.head_width
            if sets["n_heads"] % config.key_heads:  # no equal groups any more
                sets["kv_heads"] = None
    else:
        return None
    return {"label": label, "set": sets} if all(map(_free, sets)) else None


def _free(name: str) -> bool:
    """Return whether the link lets the reader change the setting."""
    return bool(SETTINGS.visible(name)) and not SETTINGS.locks(name)

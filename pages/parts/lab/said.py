"""The lines above the lab's figures: the issue that the settings come from, what to look at, what happened, and what to try next."""

from contextlib import suppress

import streamlit as st

from engine.config.presets import Preset
from engine.config.run_config import RunConfig, changes_between
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.issues import ISSUES, RENAMED
from engine.experiments.running.trial_cache import stored_trials_of
from engine.runs.next_step import NextStep, next_step
from engine.runs.run import Run
from engine.runs.summary import Remark, run_summary
from engine.settings.errors import ConfigError, Problem, not_one_of
from engine.settings.names import meant
from engine.tasks import TASKS
from pages.parts.app.in_markdown import escaped, in_markdown
from pages.parts.app.visitor import mine
from pages.parts.boards.live.board import Overlay
from pages.parts.charts.colors import color_of
from pages.parts.lab.controls import submit
from pages.parts.lab.runs import difference
from pages.parts.lab.state import ARM, ISSUE, fill_form
from pages.parts.stage.experiments import issue_link
from pages.parts.stage.handouts import Note, write_down

ARRIVAL = "arrival"
"""Session key: the issue and the arm that a link came from."""
MARKS = {"success": ":green[:material/check_circle:]", "alarm": ":red[:material/warning:]", "note": ":material/info:"}
BEFORE = "This is the untrained model: it guesses. Press **Train**; what it writes turns green as it learns."
WHILE = "It trains: in the row “writes”, green is right and red is wrong."


def take_arrival(link: dict[str, str]) -> list[Problem]:
    """Note what a link says of where it comes from; a link that says nothing ends an earlier arrival."""
    if not link:
        return []
    slug, name = meant(link.get(ISSUE, ""), ISSUES, RENAMED), link.get(ARM, "")
    st.session_state.pop(ARRIVAL, None)
    if slug not in ISSUES:
        return [not_one_of(ISSUE, slug, ISSUES)] if slug else []
    if name not in [arm.name for arm in ISSUES[slug].arms]:
        return [Problem(ARM, name, f"an arm of the issue {slug}")]
    st.session_state[ARRIVAL] = (slug, name)
    return []


def show_arrival() -> None:
    """One line: the arm and its issue, the way back, and a button that trains the reference arm as well."""
    if (found := _arrived()) is None:
        return
    issue, arm = found
    reference = _reference(issue)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lab-arrival"):
        st.markdown(f"From **{escaped(issue.title)}**: the arm “{escaped(arm.name)}”.", width="content")
        if reference is not None and reference.name != arm.name:
            st.button(
                f"Run “{reference.name}” as well", icon=":material/compare_arrows:", on_click=submit, args=(issue.config(reference),),
                help="The arm that the others are compared with. Its curves then stand behind yours.",
            )  # fmt: skip
        issue_link(issue, "Back to the issue", ":material/arrow_back:")


def reference_behind(task: str) -> list[Overlay]:
    """The reference arm's curves, where a trial of it is stored here and the task is the same."""
    issue, arm = _arrived() or (None, None)
    reference = _reference(issue) if issue else None
    if issue is None or reference is None or reference == arm or (config := issue.config(reference)).task != task:
        return []
    trial = next((one for one in stored_trials_of(issue, reference) if one.curves), None)
    if trial is None:
        return []
    columns = {
        name: ([step for step, _ in curve], [value for _, value in curve]) for name, curve in trial.curves.items()
    }
    return [Overlay("", f"{reference.name}, seed {trial.seed}", color_of(config), columns)]


def _arrived() -> tuple[Experiment, Arm] | None:
    slug, name = st.session_state.get(ARRIVAL, ("", ""))
    return (ISSUES[slug], ISSUES[slug].arm(name)) if slug in ISSUES else None


def _reference(issue: Experiment) -> Arm | None:
    return next((arm for arm in issue.arms if arm.role == "control"), None)


def say(run: Run | None, config: RunConfig | None, preset: Preset | None) -> None:
    """One line, always there, so that nothing below it moves: about the preset, the run so far, or its end."""
    with st.container(key="lab-said", gap="xxsmall"):
        looked_at = preset.look_at if preset is not None else ""
        if run is None:
            st.markdown(f":material/visibility: {looked_at or BEFORE}")
        elif run.state in ("queued", "running"):
            st.markdown(f":material/visibility: {looked_at or WHILE}")
        else:
            _say_end(run)
        if run is not None and config is not None and (changes := difference(run.config, config)):
            st.caption(f":material/edit: Settings changed since this run: {changes}.")


def _say_end(run: Run) -> None:
    events = list(run.events.landmarks())
    step = next_step(run.config, events)
    findings = run_summary(run.config, events) if run.state != "failed" else []  # of that the board itself says why
    for finding in findings[:1]:
        if finding.kind == "alarm":
            st.error(in_markdown(finding.sentence), icon=":material/warning:")
        else:
            st.markdown(_marked(finding))
    if findings and mine(run.owner):
        _note(run, findings[0])
    if step is not None:
        _show_next(run, step)
    for finding in findings[1:]:
        st.caption(_marked(finding))


def _note(run: Run, finding: Remark) -> None:
    changed = changes_between(RunConfig(), run.config)
    ran = ", ".join(f"{row.label} {row.words(here)}" for row, _, here in changed if here is not None)
    title, ran = f"Lab: {TASKS[run.config.task].label}", f"{ran or 'The default settings'}."
    write_down(f"lab.{run.id}", Note(title, ran=ran, found=finding.sentence))


def _marked(remark: Remark) -> str:
    return f"{MARKS[remark.kind]} {in_markdown(remark.sentence)}"


def _show_next(run: Run, step: NextStep) -> None:
    """The reason, the button that makes the change and trains, and the way to the issue."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/lightbulb: {in_markdown(step.reason)}", width="content")
        if step.changes:
            st.button(f"Try {step.label(run.config)}", key="lab.next", on_click=_try, args=(run, step))
        if step.issue in ISSUES:
            issue_link(ISSUES[step.issue], "See the issue", ":material/bug_report:")


def _try(run: Run, step: NextStep) -> None:
    """Train the run's settings with the change."""
    with suppress(ConfigError):
        config = run.config.replace(**step.changes)
        fill_form(config)
        submit(config)

"""The lab's runs on the page: the lines above the figures, the recent runs, and how a run is downloaded, shared and
deleted."""

import json
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import streamlit as st

from engine.config.link import to_query, train_command
from engine.config.presets import Preset
from engine.config.run_config import RunConfig, changes_between, settings_of
from engine.experiments.experiment import Arm, Experiment
from engine.experiments.issues import ISSUES, RENAMED
from engine.experiments.running.trial_cache import stored_trials_of
from engine.runs.events import Finished, to_json
from engine.runs.frames import lengths_frame, steps_frame
from engine.runs.next_step import NextStep, next_step
from engine.runs.run import Run
from engine.runs.summary import Remark, run_summary
from engine.settings.errors import ConfigError, Problem, not_one_of
from engine.settings.names import resolve_name
from engine.tasks import TASKS
from pages.parts.app import server
from pages.parts.app.in_markdown import escaped, in_markdown, refused_in_words
from pages.parts.app.page_state import offer_file
from pages.parts.app.recent_runs import forget_run, list_recent_runs, recent_runs_of_tab, show_facts, show_run
from pages.parts.app.visitor import mine, visitor
from pages.parts.boards.live.board import BoardLayout, Overlay, live_board, overlay
from pages.parts.charts.colors import color_of, shade
from pages.parts.experiments.handouts import Note, offer_report, show_link, write_down
from pages.parts.experiments.running import issue_link
from pages.parts.lab.form import IN_SIGHT, submit
from pages.parts.lab.state import ARM, ISSUE, SETTINGS, address, fill_form, share_link

LINK_ORIGIN = "lab.link_origin"  # session key: the issue and the arm that a link came from
MARKS = {"success": ":green[:material/check_circle:]", "alarm": ":red[:material/warning:]", "note": ":material/info:"}
BEFORE = "Press **Train**: right answers turn green."
WHILE = "The model trains: green answers are right, red ones are wrong."


def note_link_origin(link: dict[str, str]) -> list[Problem]:
    """Remember the issue and the arm of a link, or forget them for a link without. Return the link's problems."""
    if not link:
        return []
    slug, name = resolve_name(link.get(ISSUE, ""), ISSUES, RENAMED), link.get(ARM, "")
    st.session_state.pop(LINK_ORIGIN, None)
    if slug not in ISSUES:
        return [not_one_of(ISSUE, slug, ISSUES)] if slug else []
    if name not in [arm.name for arm in ISSUES[slug].arms]:
        return [Problem(ARM, name, f"an arm of the issue {slug}")]
    st.session_state[LINK_ORIGIN] = (slug, name)
    return []


def show_link_origin() -> None:
    if (origin := _link_origin()) is None:
        return
    issue, arm = origin
    reference = _reference(issue)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="lab-link-origin"):
        st.markdown(f"From **{escaped(issue.title)}**: the arm “{escaped(arm.name)}”.", width="content")
        if reference is not None and reference.name != arm.name:
            st.button(
                f"Run “{reference.name}” as well", icon=":material/compare_arrows:", on_click=submit, args=(issue.config(reference),),
                help="Trains the arm that the others are compared with. Its curves appear behind yours.",
            )  # fmt: skip
        issue_link(issue, "Back to the question", ":material/arrow_back:")


def reference_behind(task: str) -> list[Overlay]:
    """Return the curves of the reference arm, if this server has a trial of it and the task is the same."""
    issue, arm = _link_origin() or (None, None)
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


def _link_origin() -> tuple[Experiment, Arm] | None:
    slug, name = st.session_state.get(LINK_ORIGIN, ("", ""))
    return (ISSUES[slug], ISSUES[slug].arm(name)) if slug in ISSUES else None


def _reference(issue: Experiment) -> Arm | None:
    return next((arm for arm in issue.arms if arm.role == "control"), None)


def say(run: Run | None, config: RunConfig | None, preset: Preset | None, *, recorded: bool = False) -> None:
    """Draw lines that always exist, so that nothing below them moves: the task and the facts, the run so far, or its
    end. ``recorded``: the board has a recorded run."""
    with st.container(key="lab-sentence" if run is None else "lab-sentence-run", gap="xxsmall"):
        preset_words = preset.look_at if preset is not None else ""
        if run is None:
            sentence = TASKS[config.task].summary if config is not None else ""
            words = preset_words or (f"**{sentence}**" if recorded else f"**{sentence}** {BEFORE}")
            st.markdown(f":material/visibility: {words}")
            if config is not None:
                show_facts(config)
        elif run.state in ("queued", "running"):
            st.markdown(f":material/visibility: {preset_words or WHILE}")
        else:
            _say_end(run)
        if run is not None and config is not None and (changes := difference(run.config, config)):
            st.caption(f":material/edit: Settings changed since this run: {changes}.")


def _say_end(run: Run) -> None:
    events = list(run.events.landmarks())
    step = next_step(run.config, events)
    findings = run_summary(run.config, events) if run.state != "failed" else []  # the board says why
    for finding in findings[:1]:
        if finding.kind == "alarm":
            st.error(in_markdown(finding.sentence), icon=":material/warning:")
        else:
            st.markdown(_remark_line(finding))
    if findings and mine(run.owner):
        _note(run, findings[0])
    if step is not None:
        _show_next(run, step)
    for finding in findings[1:]:
        st.caption(_remark_line(finding))


def _note(run: Run, finding: Remark) -> None:
    changed = changes_between(RunConfig(), run.config)
    run_sentence = ", ".join(f"{row.label} {row.words(here)}" for row, _, here in changed if here is not None)
    title, run_sentence = f"Lab: {TASKS[run.config.task].label}", f"{run_sentence or 'The default settings'}."
    write_down(f"lab.{run.id}", Note(title, run=run_sentence, finding=finding.sentence))


def _remark_line(remark: Remark) -> str:
    return f"{MARKS[remark.kind]} {in_markdown(remark.sentence)}"


def _show_next(run: Run, step: NextStep) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/lightbulb: {in_markdown(step.reason)}", width="content")
        if step.changes:
            st.button(f"Try {step.label(run.config)}", key="lab.next", on_click=_try, args=(run, step))
        if step.issue in ISSUES:
            issue_link(ISSUES[step.issue], "See the question", ":material/bug_report:")


def _try(run: Run, step: NextStep) -> None:
    with suppress(ConfigError):
        config = run.config.replace(**step.changes)
        fill_form(config)
        submit(config)


# Recent runs: this tab's as chips, named by their differences; two side by side


def difference(before: RunConfig, after: RunConfig) -> str:
    """Return the differences in words: "Depth 1 → 2, Heads 1 → 4", without default parameters of a new choice."""
    before_values = before.flat()
    changes = (change for change in changes_between(before, after) if change[0].name in before_values)
    return ", ".join(f"{row.label} {row.words(was)} → {row.words(now)}" for row, was, now in changes)


def named_by_difference(earlier: RunConfig, present: RunConfig) -> str:
    """Return a name for an earlier run, by its settings that differ from the present run's: "RoPE, Heads 1"."""
    now, changes = present.flat(), changes_between(present, earlier)
    return ", ".join(
        row.words(value) if row.name == "pos_encoding" else f"{row.label} {row.words(value)}"
        for row, _, value in changes
        if row.name in now
    )


def overlays_behind(run: Run) -> list[Overlay]:
    others = (
        other for other in list_recent_runs() if other.events and other.id not in {run.id, *recent_runs_of_tab().hidden}
    )
    behind = [other for other in others if other.config.task == run.config.task]
    return [overlay(other, _name(other, run)) for other in behind]


def show_recent_runs(run: Run) -> None:
    runs = sorted(list_recent_runs(), key=lambda one: one.id != run.id)
    values = [other.config.flat() for other in runs]
    common = [row for row in settings_of(run.config) if all(row.name in of_visitor for of_visitor in values)]
    differing = [row for row in common if any(of_visitor[row.name] != values[0][row.name] for of_visitor in values)]
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key="lab-recent"):
        st.caption(f"Recent runs: {' · '.join(row.label for row in differing)}" if differing else "Recent runs")
        for other, of_visitor in zip(runs, values, strict=True):
            _chip(other, run, " · ".join(row.words(of_visitor[row.name]) for row in differing))


def show_beside(run: Run) -> None:
    other = next(
        (one for one in list_recent_runs() if one.id == recent_runs_of_tab().beside and one.id != run.id), None
    )
    if other is None:
        return
    st.header("Two runs side by side", help="Attention of both, at the same training step.")
    for column, name, column_run in zip(st.columns(2), "AB", (run, other), strict=True):
        with column:
            st.markdown(f"**{name}** · {_name(column_run, run)}")
            live_board(column_run, BoardLayout(("attention",), f"{name}-{column_run.config.task}"), key=f"board.{name}")


def _chip(other: Run, run: Run, words: str) -> None:
    recent, here = recent_runs_of_tab(), other.id == run.id
    pinned, hidden = other.id in recent.pinned, other.id in recent.hidden
    marks = (":material/push_pin:" if pinned else "") + (":material/visibility_off:" if hidden else "")
    name = f"**{': '.join(filter(None, ('this run', words)))}**" if here else words or "the same settings"
    color = shade(color_of(other.config))[st.context.theme.type or "light"]  # of its curves
    with st.popover(f':color[●]{{foreground="{color}"}} {name} {marks}'):
        st.caption(_name(other, run))
        if not here:
            _act(other, "show", "Open", "monitoring", show_run, other.id)
            eye = ("Show curves", "visibility") if hidden else ("Hide curves", "visibility_off")
            _act(other, "eye", *eye, recent.turn, "hidden", other.id)
            beside, aside = ("Stop comparing", "") if recent.beside == other.id else ("Compare attention", other.id)
            _act(other, "beside", beside, "compare", setattr, recent, "beside", aside)
        pin = "Unpin" if pinned else "Pin"
        _act(other, "pin", pin, "push_pin", recent.turn, "pinned", other.id)
        if not here:
            _act(other, "x", "Remove", "close", recent.remove, other.id)


def _act(other: Run, name: str, label: str, icon: str, act: Callable[..., None], *args: object) -> None:
    st.button(label, key=f"recent.{name}.{other.id}", icon=f":material/{icon}:", on_click=act, args=args)


def _name(other: Run, run: Run) -> str:
    """Return the name of the present run by its settings other than the defaults, of other runs by their difference to
    it."""
    if other.id == run.id:
        return f"this run: {named_by_difference(run.config, RunConfig()) or 'default settings'}"
    return named_by_difference(other.config, run.config) or "the same settings"


# A run's test lengths, files, links, and whether the server keeps it


def show_lengths(run: Run) -> None:
    finished = run.ending
    if not isinstance(finished, Finished) or not finished.by_length:
        return
    st.header("Beyond the trained length", help="Held-out sequences at each test length, after training.")
    frame = lengths_frame(finished).rename(columns=lambda name: name.replace("_", " "))
    frame["trained"] = frame["trained"].map({True: "trained", False: "never trained"})
    metrics = {str(name): st.column_config.NumberColumn(format="%.4g") for name in frame.select_dtypes("float")}
    st.dataframe(frame, hide_index=True, column_config=metrics, placeholder="–")
    for note in dict.fromkeys(row["note"] for row in finished.by_length if "note" in row):
        st.caption(note)


def show_run_files(run: Run) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if mine(run.owner) and (run.checkpointed or not run.live):
            keep_or_delete(run)
        with st.popover("Download", icon=":material/download:"):
            for label, make, kind in (
                ("Settings (JSON)", partial(settings_json, run), "json"),
                ("Numbers, one row per step (CSV)", lambda: steps_frame(run.events).to_csv(index=False), "csv"),
                ("All events (JSON lines)", lambda: "\n".join(json.dumps(to_json(event)) for event in run.events), "jsonl"),
            ):  # fmt: skip
                offer_file(label, make, f"{run.id}.{kind}", None)
            if run.weights is not None:
                offer_file("Weights (safetensors)", run.weights.read_bytes, f"{run.id}.safetensors", None)
            offer_report()


def settings_json(run: Run) -> str:
    return json.dumps({**to_query(run.config), "provenance": run.provenance}, indent=2)


def share(run: Run | None, config: RunConfig) -> None:
    popover = st.popover("Share", icon=":material/share:", key="lab.share", on_change="rerun")
    if not popover.open:
        return
    with popover, st.container(key="lab-share"):
        why = "Students can change only the settings in sight. The others are hidden."
        locked = st.toggle("Lock for a class", key="lab.locked", help=why)
        show_link(SETTINGS.share_link(address(run) | ({"show": ",".join(IN_SIGHT)} if locked else {})))
        with st.expander("All settings as a link and a command"):
            st.code(share_link(config, run), language=None, wrap_lines=True)
            st.code(train_command(config), language="sh", wrap_lines=True)


def keep_or_delete(run: Run) -> None:
    st.toggle(
        "Keep", value=run.pinned, key=f"keep.{run.id}", on_change=_keep, args=(run,),
        help="The server deletes the oldest runs when it has too many. It keeps this one.",
    )  # fmt: skip
    with st.popover("Delete", icon=":material/delete:"):
        st.caption("This deletes the run, its curves and its weights for good. Links to it stop working.")
        st.button("Delete this run", key="delete", type="primary", on_click=_delete, args=(run,))


def _keep(run: Run) -> None:
    runs, limits = server.pool().runs, server.pool().limits
    with refused_in_words(error=ValueError):
        if st.session_state[f"keep.{run.id}"]:
            runs.pin(run.id, visitor(), limits.retention)
        else:
            runs.unpin(run.id, visitor())
    st.session_state[f"keep.{run.id}"] = run.pinned


def _delete(run: Run) -> None:
    with refused_in_words(error=ValueError):
        server.pool().runs.delete(run.id, visitor())
        forget_run(run.id)

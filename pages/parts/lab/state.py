"""The settings of the lab: the config of the next run. A link may also name a preset or a run."""

from collections.abc import Collection, Mapping
from typing import Any

from engine.config.link import from_query, to_query
from engine.config.presets import PRESETS
from engine.config.run_config import COMPOSED, RunConfig, parse, settings_for, with_changes
from engine.runs.run import Run
from engine.settings.errors import ConfigError, Problem, not_one_of
from engine.settings.fields import Setting
from engine.settings.names import resolve_name
from engine.tasks import TASKS
from engine.tasks.text import TextSettings, user_texts
from engine.tasks.text.encoded import without_window
from pages.parts.app.page_state import PageSettings
from pages.parts.boards.recorded import run_named
from pages.parts.lab.apart_state import apart_query, of_apart

RUN = "run"
PRESET = "preset"
WATCHED = "look_at"  # session key of the preset whose sentence is on the page while the form has its settings
ISSUE, ARM = "of", "arm"  # the issue and its arm that a link comes from
# the plays as a text, and two tasks on a text
PLAYS, BY_WORD, BY_CHARACTER = "shakespeare", "shakespeare_words", "shakespeare_chars"
WORDS = "next-word"  # preset of BY_WORD


class LabSettings(PageSettings):
    def defaults(self) -> dict[str, Any]:
        return RunConfig().flat()

    def rows(self) -> Mapping[str, Setting]:
        values = self.values()
        return {row.name: row for row in settings_for(values.get("task"), values.get("pos_encoding"))}

    def controls(self) -> Collection[str]:
        """Return the names for every task and encoding: a reader may switch to another."""
        specific = [settings.model_fields for _, types in COMPOSED.values() for settings in types.values()]
        return {PRESET}.union((row.name for row in settings_for()), *specific)

    def read(self, query: Mapping[str, str]) -> tuple[dict[str, Any] | None, list[Problem]]:
        """Settings in a link override those of its preset, which override those of its run."""
        specific = {
            name: text for name, text in query.items() if name not in (RUN, PRESET, ISSUE, ARM) and not of_apart(name)
        }
        preset = resolve_name(query[PRESET], PRESETS) if PRESET in query else None
        run = run_named(query[RUN]) if RUN in query else None
        problems: list[Problem] = []
        base = to_query(run.config) if run is not None else {}
        if preset is not None and preset not in PRESETS:
            problems.append(not_one_of(PRESET, preset, PRESETS))
        elif preset is not None:
            base = to_query(PRESETS[preset].config)
        chosen = {**base, **specific}
        known = {row.name for row in settings_for(chosen.get("task"), chosen.get("pos_encoding"))}
        # Without the parameters of a task or an encoding that the link replaces.
        config, ignored = from_query({name: text for name, text in chosen.items() if name in known or name in specific})
        flat = config.flat()
        if not _is_known(name := str(flat.get("text", PLAYS))):  # reported here, before it is trained on
            problems.append(Problem("text", name, f"{PLAYS}, or the name of your own text on this server"))
            flat["text"] = PLAYS
        return flat if specific or base else None, problems + ignored

    def take(self, name: str, value: Any) -> None:
        before = self.values()
        super().take(name, value)
        after = with_changes(before, {name: value})
        if name == "task":
            old, new = _usual(before), _usual(after)
            after |= {
                other: new[other] for other in new if other in old and before.get(other, old[other]) == old[other]
            }
        self.put({other: now for other, now in after.items() if other != name and now != before.get(other)})

    def requested(self) -> dict[str, Any]:
        """Return the values without parameters of rows that are no longer selected."""
        values = self.values()
        return {name: values.get(name, row.default) for name, row in self.rows().items()}


def _usual(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return a task's default settings. Words need a larger model and more steps than the other tasks."""
    usual = {row.name: row.default for row in settings_for(values["task"], values["pos_encoding"])}
    usual |= PRESETS[WORDS].settings if values["task"] == BY_WORD else {}
    return usual | {"task": values["task"]}


def _is_known(text: str) -> bool:
    try:
        return text == PLAYS or bool(user_texts.read(text))
    except ValueError:
        return False


SETTINGS = LabSettings("form", widgets="set.", marks=("v", PRESET))


def fill_form(config: RunConfig) -> None:
    SETTINGS.fill(config.flat())


def form_config() -> RunConfig:
    """Raises ConfigError where the form's settings contradict each other, or its text cannot be trained on."""
    values = SETTINGS.requested()
    config = parse(values)
    if why := unfit_text(values):
        raise ConfigError([Problem("text", values["text"], "a longer text", why)])
    return config


def unfit_text(values: Mapping[str, Any]) -> str:
    """Return the reason why the reader's text has nothing to train on, in one sentence; empty if it has, or without
    such a text."""
    specific = TASKS[values["task"]].settings
    if not issubclass(specific, TextSettings) or values["text"] == PLAYS or values["split"] != "plays":
        return ""
    try:
        return without_window(values["text"], specific.unit, values["seq_len"])
    except ValueError as error:
        return str(error)


def address(run: Run | None) -> dict[str, str]:
    """Return the query of a link to the page: the run, settings other than the defaults or the run's, and “Take it
    apart”."""
    query = SETTINGS.query(run.config.flat()) | {RUN: run.id} if run is not None else SETTINGS.query()
    return query | apart_query()


def share_link(config: RunConfig, run: Run | None) -> str:
    """Return a link with every setting and the version, so that later defaults change nothing."""
    return SETTINGS.share_link(to_query(config) | ({RUN: run.id} if run is not None else {}))

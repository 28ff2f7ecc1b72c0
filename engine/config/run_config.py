from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache

from pydantic import BaseModel, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from engine.config.composed import ComposedConfig
from engine.config.validators import broken_rules
from engine.encodings import ENCODINGS
from engine.settings.architectures import ARCHITECTURES
from engine.settings.errors import ConfigError, Problem, problems_in, read_leniently
from engine.settings.fields import Parameters, Setting, Value, from_text, settings_in, to_text
from engine.settings.names import resolve_name
from engine.tasks import TASKS

# by field that chooses a registry row: the field of the row's own settings, and their types by row name
COMPOSED: dict[str, tuple[str, Mapping[str, type[Parameters]]]] = {
    "task": ("task_settings", {name: spec.settings for name, spec in TASKS.items()}),
    "pos_encoding": ("encoding_settings", {name: spec.settings for name, spec in ENCODINGS.items()}),
}
CHOICES: dict[str, dict[str, str]] = {
    "task": {name: row.label for name, row in TASKS.items()},
    "pos_encoding": {name: row.label for name, row in ENCODINGS.items()},
    "family": {name: row.label for name, row in ARCHITECTURES.items()},
}


class RunConfig(ComposedConfig):
    """All settings that determine a run's numbers. Frozen; the training path depends on nothing else."""

    @model_validator(mode="before")
    @classmethod
    def _compose(cls, data: Mapping[str, object]) -> dict[str, object]:
        """Accept the flat form: the parameters of each chosen row go into its own model."""
        flat = dict(data) | {
            name: resolve_name(str(data[name]), known) for name, known in CHOICES.items() if name in data
        }
        for chooser, (field, types) in COMPOSED.items():
            chosen = types.get(str(flat.get(chooser, cls.model_fields[chooser].default)))
            given = flat.pop(field, None) or {}
            if chosen is None:  # the validation reports the field that chooses
                continue
            table = given.model_dump() if isinstance(given, BaseModel) else given
            if not isinstance(table, Mapping):
                wrong = Problem(field, to_text(given), "a table of settings")
                raise PydanticCustomError("rule", "{allowed}", vars(wrong))
            values = {**table, **{name: flat.pop(name) for name in chosen.model_fields if name in flat}}
            flat[field] = chosen(**from_text(values, chosen))
        return from_text(flat, cls)

    @field_validator(*CHOICES)
    @classmethod
    def _known_choice(cls, value: str, info: ValidationInfo) -> str:
        allowed = CHOICES[info.field_name or ""]
        if value not in allowed:
            raise PydanticCustomError("choice", "one of {names}", {"names": ", ".join(allowed)})
        return value

    @model_validator(mode="after")
    def _agree(self) -> RunConfig:
        broken = next(broken_rules(self), None)
        if broken is not None:
            raise PydanticCustomError("rule", "{allowed}", vars(broken))
        return self

    def flat(self) -> dict[str, Value]:
        return {row.name: self.value(row.name) for row in settings_of(self)}

    def replace(self, **changes: object) -> RunConfig:
        """Change some settings; parameters of a row that is no longer chosen are dropped.

        Raises ConfigError with one sentence for each setting that does not fit.
        """
        flat = with_changes(self.flat(), changes)
        known = {row.name for row in settings_for(flat.get("task"), flat.get("pos_encoding"))}
        return parse({name: value for name, value in flat.items() if name in known or name in changes})


@lru_cache(maxsize=1024)
def settings_for(task: str | None = None, pos_encoding: str | None = None) -> tuple[Setting, ...]:
    """Every setting that exists under a task and an encoding (or the default ones), in the table's order."""
    chosen = {"task": task, "pos_encoding": pos_encoding}
    rows: list[Setting] = []
    for row in _shared_settings():
        rows.append(row)
        if row.name in COMPOSED:
            specific = COMPOSED[row.name][1].get(resolve_name(str(chosen[row.name] or row.default), row.choices))
            rows += _specific_settings(specific, row.group) if specific else ()
    return tuple(rows)


@cache
def _shared_settings() -> tuple[Setting, ...]:
    return tuple(settings_in(RunConfig, CHOICES))


@cache
def _specific_settings(specific: type[BaseModel], group: str) -> tuple[Setting, ...]:
    return tuple(replace(setting, group=group) for setting in settings_in(specific))


def settings_of(config: RunConfig) -> tuple[Setting, ...]:
    return settings_for(config.task, config.pos_encoding)


def with_changes(values: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    """Flat values with some changed. If a change chooses another row, a parameter that both rows have and that was at the old row's default
    takes the new row's default."""
    after = {**values, **changes}
    if COMPOSED.keys().isdisjoint(changes):
        return after
    old, new = (settings_for(given.get("task"), given.get("pos_encoding")) for given in (values, after))
    defaults = {row.name: row.default for row in old}
    for row in new:
        at_default = row.name in defaults and values.get(row.name) == defaults[row.name]
        if at_default and row.name not in changes:
            # else a text would keep the ten symbols of another task
            after[row.name] = row.default
    return after


def parse(flat: Mapping[str, object]) -> RunConfig:
    """Read flat names and values; values may be text. Raises ConfigError."""
    try:
        return RunConfig.model_validate(dict(flat))
    except ValidationError as error:
        rows = settings_for(flat.get("task"), flat.get("pos_encoding"))
        raise ConfigError(list(problems_in(error, flat, rows, _belongs_to))) from None


def _belongs_to(name: str) -> str:
    for chooser, (_, types) in COMPOSED.items():
        if having := [row for row, specific in types.items() if name in specific.model_fields]:
            return f"It belongs to {chooser} {' or '.join(having)}."
    return ""


def parse_leniently(flat: Mapping[str, object]) -> tuple[RunConfig, list[Problem]]:
    """Read the allowed values. One problem for each setting that does not fit (it keeps its default)."""
    return read_leniently(flat, parse)


def changes_between(before: RunConfig, after: RunConfig) -> Iterator[tuple[Setting, Value, Value]]:
    old = before.flat()
    for row in settings_of(after):
        value = after.value(row.name)
        if row.name not in old or old[row.name] != value:
            yield row, old.get(row.name), value

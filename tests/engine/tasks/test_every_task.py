from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest

import engine.tasks
from engine.config.run_config import parse
from engine.estimate.warnings import warnings_of
from engine.settings.base import BaseConfig
from engine.tasks import BY_GROUP, TASKS
from engine.tasks.base import GROUPS, TaskSettings
from engine.tasks.base.data import TaskData, task_data
from engine.tasks.text import TextSettings
from tests.tables import tables_beside

CASES = tables_beside(__file__)


def settings_of(function: Callable[..., Any]) -> type[TaskSettings]:
    """The class that a function of a task's data declares for the task's settings."""
    settings: type[TaskSettings] = get_type_hints(function)["settings"]
    return settings


@pytest.mark.parametrize("name", TASKS)
def test_its_data_takes_the_settings_of_its_specification(name: str) -> None:
    data, spec = task_data(name), TASKS[name]
    declared, defaults = spec.settings, spec.settings()
    assert spec.name == name
    assert spec.corpus == (data.corpus is not None) == issubclass(declared, TextSettings)
    assert not (defaults.named_tokens and defaults.extra_tokens), "both are numbered from just above the symbols"
    assert defaults.n_symbols >= 2
    assert defaults.n_answers(BaseConfig()) >= 2
    assert isinstance(data, TaskData)
    functions = [f for f in (data.answer, data.draw, data.true_source, data.corpus) if f is not None]
    for function in functions:
        expected = settings_of(function)
        of_its_own = function.__module__ == f"engine.tasks.{name}.data"
        assert expected is declared if of_its_own else issubclass(declared, expected)


def test_every_folder_is_registered_and_stands_once_in_a_group_with_a_label() -> None:
    folders = {file.parent.name for path in engine.tasks.__path__ for file in Path(path).glob("*/__init__.py")}
    assert folders - {"base", "text"} == set(TASKS)

    in_groups = [spec.name for specs in BY_GROUP.values() for spec in specs]
    assert (sorted(in_groups), list(BY_GROUP)) == (sorted(TASKS), list(GROUPS))
    assert all(GROUPS[spec.group] for spec in TASKS.values())
    assert all(BY_GROUP.values())


@pytest.mark.parametrize(("settings", "warned"), CASES["warned"])
def test_a_relative_encoding_warned_of_where_offsets_cannot_answer(settings: dict[str, Any], warned: bool) -> None:
    config = parse({"pos_encoding": "rope", **settings})
    assert (config.task_settings.beyond_offsets(config) in warnings_of(config)) == warned

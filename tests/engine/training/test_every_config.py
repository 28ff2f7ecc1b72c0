"""Every config either trains, is refused in one sentence, or fails with a named reason: there is no fourth way."""

from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from engine.config.run_config import RunConfig, parse, settings_for
from engine.encodings import ENCODINGS
from engine.runs.events import Failed, Finished
from engine.settings.architectures import ARCHITECTURES
from engine.settings.errors import ConfigError, Problem
from engine.settings.fields import Setting
from engine.tasks import TASKS
from engine.training.train import train

# bounds within those of the settings, so that three steps take milliseconds
SMALL = {
    "d_model": (2, 16), "n_layers": (1, 3), "n_heads": (1, 4), "d_head": (1, 8), "d_ff": (1, 16), "seq_len": (2, 9),
    "min_seq_len": (2, 9), "batch_size": (1, 4), "vocab_size": (2, 12), "dataset_size": (1, 40), "pretrain_steps": (0, 4),
    "randomized_positions": (1, 4), "plays": (1, 2), "text_tokens": (64, 2000), "design_width": (1, 8), "warmup_steps": (0, 5),
}  # fmt: skip
FIXED = {"steps": 3, "device": "cpu"}
CHANGED = 6  # so many settings may differ from their defaults: most configs then break no rule


def values_of(row: Setting) -> st.SearchStrategy[Any]:
    """Allowed values of one setting, small ones if size costs time."""
    low, high = SMALL.get(row.name, (row.minimum, row.maximum))
    values: st.SearchStrategy[Any]
    if row.kind == "choice":
        values = st.sampled_from(row.choices)
    elif row.kind == "bool":
        values = st.booleans()
    elif row.kind == "int":
        values = st.integers(int(low or 0), int(high or 0))
    elif row.kind == "float":
        values = st.floats(low, high)
    elif row.kind == "ints":
        values = st.lists(st.integers(2, 12), max_size=3).map(tuple)
    else:
        values = st.just(row.default)
    return st.none() | values if row.optional else values


@st.composite
def flat_configs(draw: st.DrawFn, task: str) -> dict[str, Any]:
    """Flat names and values of a config of one task: any family and encoding, and a few other settings changed."""
    taking = [name for name, row in ARCHITECTURES.items() if row.reads_as in TASKS[task].architectures]
    chosen = {
        "task": task,
        "family": draw(st.sampled_from(taking) | st.sampled_from(sorted(ARCHITECTURES))),
        "pos_encoding": draw(st.sampled_from(sorted(ENCODINGS))),
    }
    rows = [row for row in settings_for(task, chosen["pos_encoding"]) if row.name not in chosen.keys() | FIXED.keys()]
    changed = draw(st.lists(st.sampled_from(rows), max_size=CHANGED, unique_by=lambda row: row.name))
    small = {"d_model": 8, "batch_size": 3, **({"plays": 1} if TASKS[task].corpus else {})}
    return {**small, **chosen, **{row.name: draw(values_of(row)) for row in changed}, **FIXED}


def parsed(flat: dict[str, Any]) -> RunConfig | list[Problem]:
    try:
        return parse(flat)
    except ConfigError as error:
        return error.problems


def check(task: str, data: st.DataObject) -> None:
    flat = data.draw(flat_configs(task))
    config = parsed(flat)
    if isinstance(config, list):
        event("refused")
        assert config
        assert all("\n" not in str(problem) for problem in config)
        assert {problem.setting for problem in config} <= {row.name for row in settings_for(task, flat["pos_encoding"])}
        return
    *_, last = train(config)
    event(type(last).__name__)
    if isinstance(last, Failed):
        assert last.tensor
        assert f"Step {last.step}" in last.reason
    else:
        assert isinstance(last, Finished)
        assert last.step == FIXED["steps"]


def examples_of(examples: int) -> settings:
    return settings(
        max_examples=examples, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )


@pytest.mark.parametrize("task", TASKS)
@examples_of(5)
@given(data=st.data())
def test_every_config_trains_or_says_why_not(task: str, data: st.DataObject) -> None:
    check(task, data)


@pytest.mark.acceptance
@pytest.mark.parametrize("task", TASKS)
@examples_of(100)
@given(data=st.data())
def test_many_configs_train_or_say_why_not(task: str, data: st.DataObject) -> None:
    check(task, data)

import itertools
import shlex
from collections.abc import Iterable
from typing import Any

import pytest

from engine.cli import OneLineParser
from engine.cli.arguments import add_settings, all_settings, config_from
from engine.config.link import as_options, from_query, to_query, train_command
from engine.config.run_config import COMPOSED, RunConfig, changes_between, parse, settings_for, settings_of
from engine.encodings import ENCODINGS
from engine.settings.errors import ConfigError
from engine.settings.fields import Setting
from engine.tasks import TASKS
from tests.tables import tables_beside

CASES = tables_beside(__file__)

# every other setting may take nearly any value
ROOMY = {"task": "k_back", "n_heads": 6, "d_head": 8, "seq_len": 96, "attention_impl": "materialised"}
ROOM = {"lookup": {"seq_len": 6}}  # for a task without room for so many symbols


def other_values(row: Setting) -> Iterable[Any]:
    """Values that the setting allows, the first ones not its bounds."""
    low, high = row.minimum or 0, row.maximum or 0
    numbers = [low + (high - low) * share for share in (1 / 3, 1 / 2)]
    return {
        "choice": row.choices, "text": ["0123456789abcdef" * 2], "bool": [False, True], "ints": [(7, 300)], "float": numbers,
        "int": [int(min(numbers[0], low + 5)) + more for more in range(3)],
    }[row.kind]  # fmt: skip


def fits(flat: dict[str, Any]) -> bool:
    try:
        return bool(parse(flat))
    except ConfigError:
        return False


def with_another_value(flat: dict[str, Any], row: Setting) -> dict[str, Any]:
    """The flat config with this setting away from its default, as the rules allow it."""
    others = ({**flat, row.name: value} for value in other_values(row) if value != row.default)
    return next(filter(fits, others))


def changed_configs() -> list[Any]:
    """Each setting of the table once, and each parameter of each task and encoding once, away from its default."""
    values: set[str] = set()
    cases = []
    for task, encoding in itertools.product(("k_back", *TASKS), ENCODINGS):
        roomy = {**ROOMY, **ROOM.get(task, {}), "family": TASKS[task].architectures[0]}
        for row in settings_for(task, encoding):
            if row.name not in values and row.name not in ("task", "pos_encoding"):
                values.add(row.name)
                flat = with_another_value({**roomy, "task": task, "pos_encoding": encoding}, row)
                cases.append(pytest.param(flat, row.name, id=row.name))
        if task == "k_back" or encoding == "learned":  # the names of their settings differ, see below
            pair = {**roomy, "task": task, "pos_encoding": encoding}
            cases.append(pytest.param(pair, "task", id=f"{task}-{encoding}"))
    return cases


@pytest.fixture(scope="module")
def parser() -> OneLineParser:
    parser = OneLineParser()
    add_settings(parser)
    return parser


@pytest.mark.parametrize(("flat", "name"), changed_configs())
def test_every_field_survives_link_and_command_line(flat: dict[str, Any], name: str, parser: OneLineParser) -> None:
    config = parse(flat)
    assert config.value(name) == flat[name]
    linked, ignored = from_query(to_query(config))
    assert (linked, ignored) == (config, [])
    assert config_from(parser.parse_args(as_options(config.flat()))) == config
    python, dash, module, train, *options = shlex.split(train_command(config))
    assert (python, dash, module, train) == ("python", "-m", "engine", "train")
    assert config_from(parser.parse_args(options)) == config, "what is left out is at its default"
    assert RunConfig.model_validate_json(config.model_dump_json()) == config


def test_setting_names_are_unique_and_each_has_label_help_and_group() -> None:
    fields = set(RunConfig.model_fields)
    for _, types in COMPOSED.values():
        for name, settings in types.items():
            assert not fields & set(settings.model_fields), name

    for row in all_settings().values():
        assert row.label, row.name
        assert row.help.endswith((".", ")")), row.name
        assert row.group, row.name

    assert train_command(RunConfig()) == "python -m engine train"
    names = [row.name for row in settings_of(RunConfig())]
    assert len(names) == len(set(names)) == len(RunConfig().flat())


@pytest.mark.parametrize(("flat", "setting", "given", "allowed"), CASES["refusals"])
def test_a_refusal_says_what_is_allowed(flat: dict[str, Any], setting: str, given: str, allowed: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse(flat)
    (problem,) = caught.value.problems
    assert (problem.setting, problem.value) == (setting, given)
    assert allowed in str(problem)
    assert "Did you mean" not in str(problem) or "Did you mean" in allowed
    assert "\n" not in str(caught.value)


def test_a_bad_link_keeps_what_fits() -> None:
    config, ignored = from_query({"v": "1", "n_layers": "99", "pos_encoding": "rope", "steps": "50", "zork": "1"})
    assert (config.n_layers, config.pos_encoding, config.steps) == (1, "rope", 50)
    assert {problem.setting for problem in ignored} == {"n_layers", "zork"}
    config, (problem,) = from_query({"task": "k_back", "k": "2", "task_settings": "x"})
    assert (config.task, config.value("k")) == ("k_back", 2)
    assert problem.setting == "task_settings", "the table that holds the settings of a row"
    config, (problem,) = from_query({"task": "k_back", "seq_len": "2", "steps": "50"})
    assert (config.task, config.seq_len, config.steps) == ("k_back", 6, 50)
    assert (problem.setting, problem.value) == ("seq_len", "2")
    assert "k 3" in problem.allowed, "a default that the link rules out costs the setting that does so"
    config, (problem,) = from_query({"v": "9", "steps": "50"})
    assert config.steps == 50
    assert problem.setting == "v", "another version"


def test_a_value_is_understood_where_one_only_can_be_meant() -> None:
    given = {
        "task": "K-Back",
        "pos_encoding": "RoPE",
        "rope_layout": "Rotate-Half",
        "family": "GRU",
        "optimizer": "AdamW",
    }
    config = parse(given)
    assert config == parse({
        "task": "k_back", "pos_encoding": "rope", "rope_layout": "rotate_half", "family": "gru", "optimizer": "adamw",
    })  # fmt: skip
    assert from_query(given) == (config, [])
    assert RunConfig(pos_encoding="T5 bias").pos_encoding == "t5_bias"


def test_the_marks_that_others_add_to_a_link_are_passed_over() -> None:
    marks = {"utm_source": "moodle", "fbclid": "x", "gclid": "y", "msclkid": "z", "mc_eid": "1"}
    assert from_query({**marks, "steps": "50"}) == (RunConfig(steps=50), [])
    _, problems = from_query({"source": "moodle", "utm": "1"})
    assert [problem.setting for problem in problems] == ["source", "utm"]


def test_a_default_that_does_not_go_with_a_link_is_named_with_what_it_must_be() -> None:
    config, (problem,) = from_query({"attention_score": "additive", "steps": "50"})
    assert (config.attention_score, config.steps) == ("scaled_dot", 50)
    assert str(problem) == (
        "attention_score is additive; it must be one that goes with attention_impl fused. Otherwise attention_impl must be "
        "materialised for attention_score additive, which no fused kernel computes."
    )


def test_changes_name_what_differs() -> None:
    before = RunConfig()
    after = before.replace(pos_encoding="rope", n_layers=2)
    names = ["rope_base", "rope_layout", "rope_scaling", "rope_scale_factor", "yarn_alpha", "yarn_beta"]
    assert [row.name for row, _, _ in changes_between(before, after)] == ["n_layers", "pos_encoding", *names]
    assert list(changes_between(before, RunConfig())) == []


def test_a_config_is_frozen_replace_checks_and_another_task_brings_its_own_defaults() -> None:
    config = RunConfig()
    with pytest.raises(Exception, match="frozen"):
        config.n_layers = 3  # type: ignore[misc]
    with pytest.raises(ConfigError):
        config.replace(n_heads=5)

    assert RunConfig().replace(task="shakespeare_chars").value("vocab_size") == 80
    assert parse({"vocab_size": 12}).replace(task="shakespeare_chars").value("vocab_size") == 12
    assert RunConfig().replace(task="shakespeare_chars", vocab_size=10).value("vocab_size") == 10
    assert RunConfig(seq_len=9).replace(task="copy").seq_len == 9

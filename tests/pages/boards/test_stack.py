from typing import Any, get_args

import pytest

from engine.analysis.attention.parts import PartKind
from engine.config.run_config import RunConfig, parse, settings_for
from engine.experiments.issues import ISSUES
from engine.settings.architectures import ARCHITECTURES
from pages.parts.boards.live.stack import part_kinds, stack_of

ATTENDS = {"skip", "norm", "mlp", "layer", "head", "encoding", "embedding", "heads", "loss"}


@pytest.mark.parametrize(
    ("family", "parts"),
    [
        ("decoder", {*ATTENDS, "mask"}),
        ("encoder", ATTENDS),
        ("encoder_decoder", {*ATTENDS, "mask"}),
        ("gru", {"cell", "embedding", "loss"}),
        ("lstm", {"cell", "embedding", "loss"}),
        ("cnn", {"cell", "skip", "norm", "embedding", "loss"}),
    ],
)
def test_a_family_is_drawn_with_the_parts_that_it_has(family: str, parts: set[str]) -> None:
    model = stack_of(parse({"family": family, "n_layers": 3, "n_heads": 2}))
    assert set(model["parts"]) == parts
    assert model["layers"] == 3
    assert model["heads"] == (2 if ARCHITECTURES[family].attends else 0)
    assert [stack["prefix"] for stack in model["stacks"]] == (["", "e"] if family == "encoder_decoder" else [""])


def test_what_a_model_was_made_without_is_off_and_cannot_be_taken_away() -> None:
    made: dict[str, Any] = {
        "skips": False,
        "norm": "none",
        "mlp": False,
        "pos_encoding": "nope",
        "mask_fault": "missing",
    }
    parts = stack_of(parse(made))["parts"]
    assert all(parts[name]["off"] and not parts[name]["takes"] for name in ("skip", "norm", "mlp", "encoding"))
    assert parts["mask"]["fault"]
    whole = stack_of(parse({}))["parts"]
    assert not any(part["off"] or part["fault"] for part in whole.values())
    assert {name for name, part in whole.items() if part["takes"]} == {
        *ATTENDS - {"embedding", "heads", "loss"},
        "mask",
    }


def test_a_kind_of_part_names_families_issues_settings_and_what_can_be_taken_away() -> None:
    rows = {row.name: row for row in settings_for()}
    for kind in part_kinds().values():
        assert set(kind.families) <= set(ARCHITECTURES)
        assert kind.issue in {"", *ISSUES}
        assert kind.opens in {row.group for row in rows.values()}
        assert {*kind.without, *kind.restored, *([kind.fewer] if kind.fewer else [])} <= set(rows)
        for settings in (kind.without, kind.restored):
            RunConfig().replace(**settings)
        assert bool(kind.noun) == bool(kind.without or kind.fewer)
    assert {kind.takes for kind in part_kinds().values()} == {"", *get_args(PartKind)}


@pytest.mark.parametrize("name", [name for name, kind in part_kinds().items() if kind.without])
def test_a_model_made_without_a_part_is_offered_it_again(name: str) -> None:
    kind = part_kinds()[name]
    without = RunConfig().replace(**kind.without)
    assert kind.is_off(without) or kind.is_broken(without)
    again = without.replace(**kind.restored)
    assert not kind.is_off(again)
    assert not kind.is_broken(again)


@pytest.mark.parametrize(
    ("settings", "question"),
    [
        ({}, "half"),
        ({"family": "encoder"}, "all"),
        ({"family": "encoder_decoder"}, "source"),
        ({"task": "shakespeare_chars", "plays": 1}, ""),
    ],
)
def test_the_question_stands_where_the_layout_puts_it(settings: dict[str, Any], question: str) -> None:
    assert stack_of(parse(settings))["question"] == question

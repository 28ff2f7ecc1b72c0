import tomllib

import pytest

from engine.config.run_config import parse
from engine.encodings import ENCODINGS
from engine.estimate.encoding_costs import (
    FILE,
    cost_of,
    costs,
    encoding_layer_bytes,
    encoding_saved_bytes,
    encoding_work,
    numbers_of,
)
from tools.encoding_costs import worst

WRITTEN = [name for name in ENCODINGS if name != "designed"]
STATED = tomllib.loads(FILE.read_text("utf-8"))["worst"]


def test_every_encoding_that_is_written_is_measured() -> None:
    assert sorted(costs()) == sorted(WRITTEN) == sorted(STATED)
    assert cost_of(parse({"pos_encoding": "designed"})) is None


@pytest.mark.parametrize("name", STATED)
def test_on_held_out_sizes_no_prediction_is_below_and_none_is_worse_than_stated(name: str) -> None:
    found = worst(name, every=49)
    assert all(ratio <= STATED[name][what] * 1.01 for what, ratio in found.items()), (found, STATED[name])


def test_costs_grow_with_what_they_are_counted_by() -> None:
    fire, wide, cope = (
        parse({"pos_encoding": "fire"}), parse({"pos_encoding": "fire", "fire_width": 64}), parse({"pos_encoding": "cope"}),
    )  # fmt: skip
    assert encoding_saved_bytes(fire, 8, 20) == encoding_saved_bytes(fire, 1, 20), (
        "a bias of positions is the same for all sequences"
    )
    assert encoding_saved_bytes(wide, 1, 20) > encoding_saved_bytes(fire, 1, 20)
    assert encoding_saved_bytes(cope, 8, 20) > 7 * encoding_saved_bytes(cope, 1, 20)
    assert encoding_work(cope, 8, 20) > encoding_work(cope, 8, 10) > 0


def test_a_design_has_a_bound_and_as_much_work_as_the_slowest_in_its_place() -> None:
    design = parse({"pos_encoding": "designed", "design_place": "scores", "n_layers": 3})
    assert encoding_saved_bytes(design, 8, 20) == 0 < encoding_layer_bytes(design, 8, 20)
    slowest = max(cost.work for name, cost in costs().items() if ENCODINGS[name].acts_on == "scores")
    assert encoding_work(design, 8, 20) == 3 * slowest * numbers_of(design, 8, 20)

"""Where an encoding that knows offsets only is not enough, and where it is."""

from __future__ import annotations

from typing import Any

import pytest

from engine.config.run_config import parse
from engine.estimate.warnings import warnings_of


@pytest.mark.parametrize(
    ("settings", "is_warned"),
    [
        ({"task": "reverse"}, True),
        ({"task": "reverse", "n_layers": 2}, False),
        ({"task": "reverse", "pos_encoding": "sinusoidal"}, False),
        ({"task": "copy"}, False),
        ({"task": "own_position", "variant": "constant"}, True),
        ({"task": "own_position", "variant": "constant", "bos": True}, False),
        ({"task": "own_position"}, False),
    ],
)
def test_a_relative_encoding_is_warned_of_where_offsets_cannot_answer(
    settings: dict[str, Any], is_warned: bool
) -> None:
    config = parse({"pos_encoding": "rope", **settings})
    assert (config.task_settings.beyond_offsets(config) in warnings_of(config)) == is_warned

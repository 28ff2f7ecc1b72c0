"""Training and evaluation mode for the length of a block."""

from __future__ import annotations

import pytest
from torch import nn

from engine.model.activations import in_mode


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("inside", [True, False])
def test_the_mode_is_put_back_also_after_an_exception(before: bool, inside: bool) -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Dropout()).train(before)

    def fail() -> None:
        with in_mode(model, training=inside):
            assert all(part.training is inside for part in model.modules())
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fail()
    assert all(part.training is before for part in model.modules())

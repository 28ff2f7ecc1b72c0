"""A learned table: one trained row a position, and a clear word where there is none."""

from __future__ import annotations

import pytest
import torch

from engine.encodings.base.layer import PositionOutOfRange
from engine.encodings.learned.layer import Learned
from tests.engine.tiny import given_to, tiny_config, tiny_encoding, tiny_model, tokens


def test_adds_its_row_to_each_position_and_only_rows_in_use_get_gradient() -> None:
    encoding = tiny_encoding(Learned, tiny_config(pos_encoding="learned"), max_positions=8)
    x = torch.randn(3, 5, 16)
    torch.testing.assert_close(encoding.add_to_embedding(x, range(2, 7)) - x, encoding.table[2:7].expand(3, -1, -1))

    model = tiny_model(pos_encoding="learned", max_positions=12)
    model(**given_to(model)).sum().backward()
    rows = model.encoding.table.grad.abs().sum(-1)
    assert (rows[:10] > 0).all()
    assert (rows[10:] == 0).all()


@pytest.mark.parametrize(("settings", "std"), [({"token_init_std": 0.3}, 0.3), ({"table_init_std": 0.02}, 0.02)])
def test_scale_is_tied_to_the_tokens_unless_it_is_set(settings: dict[str, float], std: float) -> None:
    table = tiny_encoding(Learned, tiny_config(pos_encoding="learned", d_model=64, **settings), max_positions=400).table
    assert table.std().item() == pytest.approx(std, rel=0.03)


def test_a_position_beyond_the_table_is_named() -> None:
    model = tiny_model(pos_encoding="learned", max_positions=10)
    model(tokens(10))
    with pytest.raises(PositionOutOfRange, match="Position 11 has no row: the learned table ends at position 9"):
        model(tokens(12))
    with pytest.raises(PositionOutOfRange):
        model(tokens(10), first_position=1)

"""The answer of every text task: at each position the token that follows, nothing at the last."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from engine.tasks.rule import IGNORE


def answer(source: Tensor, settings: Any) -> Tensor:
    """[batch, length] -> the same; windows come with one token more, so that their last position is answered too."""
    following = source.roll(-1, dims=1)
    following[:, -1] = IGNORE
    return following

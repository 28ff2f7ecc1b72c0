"""Training mode or evaluation mode (where dropout does nothing) for as long as a ``with`` block runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torch import nn


@contextmanager
def in_mode(model: nn.Module, *, training: bool) -> Iterator[None]:
    """Inside the block the model is in the asked mode; afterwards in the one it had before, also after an exception."""
    before = model.training
    model.train(training)
    try:
        yield
    finally:
        model.train(before)

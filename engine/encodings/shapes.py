"""Shapes of parameters, as rows say what their encodings learn. Torch-free."""

from __future__ import annotations

Shape = tuple[int, ...]


def dense(inputs: int, outputs: int) -> list[Shape]:
    """Weights and bias of a dense layer."""
    return [(outputs, inputs), (outputs,)]

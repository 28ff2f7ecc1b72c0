"""The order in a learned table: whether rows of near positions point in the same direction.

The correlation, over all pairs i < j, of cosine(P_i, P_j) with -|i - j|: 1 where similarity falls linearly with
distance, 0 where rows are unordered. Sinusoids have it from the start (their similarity depends on the distance alone).
"""

from __future__ import annotations

import torch
from torch import Tensor

from engine.encodings.base.layer import cosines
from engine.training.trained import Trained


def measure(trained: Trained) -> dict[str, float]:
    """``table_structure`` from -1 to 1, and ``table_norm``, the mean norm of a row; empty without a learned table."""
    table = getattr(trained.model.encoding, "table", None)
    if not isinstance(table, Tensor):
        return {}
    rows = table.detach().double().cpu()
    return {"table_structure": structure(rows), "table_norm": rows.norm(dim=1).mean().item()}


def structure(rows: Tensor) -> float:
    """The correlation of the rows' cosines with -|i - j|, rows [position, d_model]; NaN where all pairs are equally alike."""
    first, second = torch.triu_indices(len(rows), len(rows), offset=1)
    pairs = torch.stack([cosines(rows)[first, second], (first - second).to(rows.dtype)])  # [2, pair]
    return torch.corrcoef(pairs)[0, 1].item()

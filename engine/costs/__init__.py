"""What is compared in memory and time: attention in two implementations, and the families without it. Torch-free."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Kind:
    """One of the models compared, as what it sets away from the rest."""

    name: str
    label: str
    color: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    kept: str = ""
    """What it keeps of the past so that the next token needs no second pass; "" where that is not measured."""

    @property
    def attends(self) -> bool:
        return "family" not in self.settings


KINDS: dict[str, Kind] = {
    row.name: row
    for row in (
        Kind("materialised", "Scores written out", "#C2570C", {"attention_impl": "materialised"}),
        Kind("fused", "Fused attention", "#2A5BD7", {"attention_impl": "fused"}, kept="keys and values kept"),
        Kind("gru", "GRU", "#0F8A6C", {"family": "gru"}, kept="state kept"),
        Kind("lstm", "LSTM", "#8A5FBF", {"family": "lstm"}, kept="state kept"),
        Kind("cnn", "Dilated CNN", "#A0522D", {"family": "cnn"}),
    )
}

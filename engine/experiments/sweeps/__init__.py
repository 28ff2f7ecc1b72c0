"""Sweeps of memory and time over the length or depth: two implementations of attention, and families without attention."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class ModelKind:
    name: str
    label: str
    color: str
    short: str
    """The name next to its line in a figure."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    keeps: bool = False
    """True if the next token is also measured with a cache: keys and values, or a state. Its cost is the same in both
    implementations of attention, so one is enough."""

    @property
    def attends(self) -> bool:
        return "family" not in self.settings


KINDS: dict[str, ModelKind] = {
    row.name: row
    for row in (
        ModelKind("materialised", "Scores stored", "#C2570C", "Scores stored", {"attention_impl": "materialised"}),
        ModelKind("fused", "Scores in blocks", "#2A5BD7", "Scores in blocks", {"attention_impl": "fused"}, keeps=True),
        ModelKind("gru", "GRU", "#0F8A6C", "GRU", {"family": "gru"}, keeps=True),
        ModelKind("lstm", "LSTM", "#8A5FBF", "LSTM", {"family": "lstm"}, keeps=True),
        ModelKind("cnn", "Dilated CNN", "#B03078", "CNN", {"family": "cnn"}),
    )
}

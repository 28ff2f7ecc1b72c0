"""Markov: name the next symbol of a source in which it depends on the last two: 3 1 4 → · 4 ·

After 3 1 came 4. The first symbol alone is not asked about, nor what follows the last. The source is a table drawn once; what it
leaves open no model can know, so a loss below that floor on trained sequences is memory.
"""

from __future__ import annotations

import math

from engine.settings.base import BaseConfig
from engine.settings.fields import setting
from engine.tasks.markov.source import Source, drawn_source
from engine.tasks.spec import READER, SymbolSettings, TaskSpec


class MarkovSettings(SymbolSettings):
    vocab_size: int = setting(
        12, label="Symbols", help="How many different symbols there are; the table has their number cubed.", ge=2, le=64
    )
    dirichlet_alpha: float = setting(
        0.3, label="Evenness (Dirichlet α)", help="Small: after two symbols nearly one can follow. Large: nearly any.",
        ge=0.01, le=100.0,
    )  # fmt: skip
    source_seed: int = setting(
        0, label="Source", help="Which table; the run's seed draws sequences from it.", ge=0, le=2**31 - 1
    )

    @property
    def source(self) -> Source:
        """The source is the same for training, validation and every seed of a run."""
        return drawn_source(self.vocab_size, self.dirichlet_alpha, self.source_seed)

    @property
    def floor(self) -> float:
        return self.source.entropy_rate

    def chance(self, config: BaseConfig) -> float:
        return self.source.commonest

    def distinct(self, length: int) -> float:
        """The number of symbols of a uniform choice with the same entropy (Cover and Thomas 2006, theorem 3.1.2)."""
        return math.exp(min(700.0, self.source.entropy_rate * length))


SPEC = TaskSpec(
    "markov",
    "Markov source",
    "At each position, name the next symbol of a source that looks two symbols back.",
    "3 1 4 → · 4 ·",
    MarkovSettings,
    READER,
    group="next",
    shortest=3,
)

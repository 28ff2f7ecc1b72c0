"""Prepared configs in ``presets.toml``; in ``blocks.toml`` the blocks of three years, which change a part of any config."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from engine.config.run_config import RunConfig, parse
from engine.foundation.tables import Text, read_tables
from engine.settings.fields import AUTO, Value


@dataclass(frozen=True)
class PresetView:
    """The figure that a preset's sentence is about. Layers and heads count from 0."""

    panel: str  # the one next to one head's attention
    which: str = "self"  # the kind of attention: self, encoder or cross
    layer: int = 0
    head: int = 0
    by: str = "layer"  # gradient norms by layer, or of q, k and v ("qkv")


@dataclass(frozen=True)
class Preset:
    slug: str
    title: str
    expects: Literal["learns", "fails"]  # the heading under which the preset is listed; a run may end otherwise
    look_at: Text
    settings: dict[str, Value] = field(default_factory=dict)
    view: PresetView = PresetView("accuracy")

    @property
    def config(self) -> RunConfig:
        return parse({name: None if value == AUTO else value for name, value in self.settings.items()})


PRESETS = read_tables(Path(__file__).with_suffix(".toml"), Preset)


@dataclass(frozen=True)
class BlockPreset:
    slug: str
    title: str
    source: str
    # the heads of queries that read one head of keys and values, if the number of heads can be divided by it
    sharing: int
    settings: dict[str, Value]

    def changes(self, values: Mapping[str, Value], n_heads: int) -> dict[str, Value]:
        heads, rest = divmod(n_heads, self.sharing)
        block = {**self.settings, "kv_heads": None if rest or self.sharing == 1 else heads}
        return {name: new for name, new in block.items() if values[name] != new}


BLOCKS = read_tables(Path(__file__).with_name("blocks.toml"), BlockPreset)

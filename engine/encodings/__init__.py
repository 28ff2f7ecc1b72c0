"""The registry of positional encodings. Torch-free: implementations are imported by workers only.

To add one: write ``engine/encodings/<name>.py`` with a small class and ``engine/encodings/rows/<name>.py`` with what is known of
it, and add one line here.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING

from engine.encodings.row import EncodingRow
from engine.encodings.work import Reading, Work

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig

NAMES = (
    "nope",
    "sinusoidal",
    "learned",
    "fourier",
    "shaw",
    "t5_bias",
    "alibi",
    "kerple",
    "fire",
    "cope",
    "rope",
    "xpos",
    "mlp",
    "conv",
    "designed",
)
"""In the order of every list."""
ENCODINGS: dict[str, EncodingRow] = {name: import_module(f"engine.encodings.rows.{name}").ROW for name in NAMES}


def encoding_of(config: RunConfig) -> EncodingRow:
    """The row of a config's encoding, with what its own parameters decide of it."""
    row = ENCODINGS[config.pos_encoding]
    return replace(row, **row.decided_by(config.encoding_settings)) if row.decided_by else row


def encoding_work(config: RunConfig, length: int, source_length: int | None = None) -> Work:
    """What the encoding computes in all stacks, on [batch_size, length]; an encoder-decoder's encoder reads ``source_length``."""
    if not config.architecture.attends:
        return Work()
    stacks = [Reading(config, length, config.causal)]
    if source_length is not None:
        stacks.append(Reading(config, source_length, causal=False))
    return sum(map(ENCODINGS[config.pos_encoding].work, stacks), Work())

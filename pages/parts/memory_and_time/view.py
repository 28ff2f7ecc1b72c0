"""The page's settings beside the sweep: the limits of memory and time, and the well-known models."""

from __future__ import annotations

from typing import Literal

from pydantic import field_validator
from pydantic_core import PydanticCustomError

from engine.estimate.at_scale import PRECISIONS
from engine.estimate.published import WELL_KNOWN
from engine.settings.fields import Parameters, setting
from engine.sweeps import KINDS

GIB = 2**30


class View(Parameters):
    """Settings that change no measured number. Frozen."""

    # fmt: off
    part_of: Literal["materialised", "fused", "gru", "lstm", "cnn"] = setting(
        "materialised", label="Parts of", help="Whose memory is taken apart.", labels={name: row.label for name, row in KINDS.items()},
    )
    memory: float = setting(16.0, label="Memory (GiB)", help="Of the device that it has to fit in.", ge=0.001, le=100_000.0)
    seconds: float = setting(1.0, label="Time of a step (s)", help="How long one training step may take.", ge=0.001, le=3600.0)
    precision: Literal["bf16", "fp32"] = setting(
        "bf16", label="Precision", help="Mixed: two bytes a weight and activation, and a float32 copy for the optimizer.",
        labels={name: row.label for name, row in PRECISIONS.items()},
    )
    context: int | None = setting(
        None, label="Tokens", help="Of each sequence. Auto: as many as the model was made for.", ge=1, le=10_000_000,
    )
    sequences: int = setting(1, label="Sequences", help="In one training step, or written side by side.", ge=1, le=4096)
    written: bool = setting(False, label="Scores written out", help="Without a fused kernel: every score of every pair is kept.")
    # fmt: on
    models: tuple[str, ...] = ("gpt2-124m", "gpt2-1.5b", "llama2-7b", "llama3-8b")

    @field_validator("models")
    @classmethod
    def _known_models(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if not set(value) <= WELL_KNOWN.keys():
            names = ", ".join(WELL_KNOWN)
            raise PydanticCustomError("choice", "some of {names}, separated by commas", {"names": names})
        return tuple(name for name in WELL_KNOWN if name in value)

    @property
    def bytes(self) -> int:
        """The memory limit in bytes."""
        return int(self.memory * GIB)

"""Sinusoidal: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from engine.encodings.row import EncodingRow
from engine.settings.fields import Parameters, setting

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


class SinusoidalParameters(Parameters):
    sinusoid_base: float = setting(
        10_000.0, label="Sinusoid base", help="b: the longest wavelength is 2πb positions.", ge=2.0, le=1e7
    )
    sinusoid_layout: Literal["interleaved", "halves"] = setting(
        "interleaved",
        label="Sinusoid layout",
        help="Sines and cosines in turn, as in the paper, or all sines before all cosines. Same similarities.",
        labels={"interleaved": "Interleaved", "halves": "Halves"},
    )


def sinusoid_needs_pairs(c: RunConfig) -> tuple[str, str] | None:
    odd = c.architecture.attends and c.d_model % 2
    return ("d_model", "an even number for sinusoidal, since sines and cosines come in pairs") if odd else None


ROW = EncodingRow(
    name="sinusoidal",
    label="Sinusoidal",
    acts_on="embedding",
    parameters=SinusoidalParameters,
    equation=r"P_{i,2j} = \sin(i\,b^{-2j/d}),\quad P_{i,2j+1} = \cos(i\,b^{-2j/d})",
    source="Vaswani et al. 2017, Attention Is All You Need, section 3.5",
    implementation="engine.encodings.sinusoidal:Sinusoidal",
    color="#2F7FD6",
    symbols=(("b", "sinusoid_base"), ("d", "d_model")),
    rules=(sinusoid_needs_pairs,),
)

from collections.abc import Iterator
from typing import Literal

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.architectures import architecture_of
from engine.settings.base import BaseConfig
from engine.settings.fields import setting


class SinusoidalSettings(EncodingSettings):
    sinusoid_base: float = setting(
        10_000.0, "Sinusoid base", "b. Wavelengths grow from 2π positions and stay below 2πb.", ge=2.0, le=1e7
    )
    sinusoid_layout: Literal["interleaved", "halves"] = setting(
        "interleaved",
        "Sinusoid layout",
        "Sines and cosines in turn, as in the paper, or all sines first. Same similarities.",
        labels={"interleaved": "Interleaved", "halves": "Halves"},
    )

    def broken_rules(self, config: BaseConfig) -> Iterator[tuple[str, str]]:
        if architecture_of(config).attends and config.d_model % 2:
            yield "d_model", "an even number for sinusoidal, because sines and cosines form pairs"


SPEC = EncodingSpec(
    name="sinusoidal", label="Sinusoidal", acts_on="embedding", settings=SinusoidalSettings,
    equation=r"P_{i,2j} = \sin(i\,b^{-2j/d}),\quad P_{i,2j+1} = \cos(i\,b^{-2j/d})",
    source="Vaswani et al. 2017, Attention Is All You Need, section 3.5", url="https://arxiv.org/abs/1706.03762",
    layer="engine.encodings.sinusoidal.layer:Sinusoidal", color="#77C1E8",
    symbols=(("b", "sinusoid_base"), ("d", "d_model")),
)  # fmt: skip

"""An encoding put together from parts: features of a position (in the scores, of an offset), a read-out, and the place where it acts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.settings.base import BaseConfig
from engine.settings.costs import SINGLE, Shape, StackShape, dense_shapes
from engine.settings.fields import setting

IN_WORDS = {
    "table": "A table with a row for each {number}",
    "sinusoids": "Sinusoids of the {number}",
    "fourier": "Fourier features of the {number}",
    "network": "A network on the {number}",
    "convolution": "A convolution of the tokens",
    "direct": "",
    "linear": ", read out by a linear map",
    "readout.network": ", read out by a network",
    "embedding": ", added to the embedding.",
    "scores": ", added to the scores.",
    "rotation": ", turning queries and keys.",
}
SHOWN_AS = "It adds a mixture of nearby tokens. The figure shows it for equal tokens."


class DesignedSettings(EncodingSettings):
    design_features: Literal["table", "sinusoids", "fourier", "network", "convolution"] = setting(
        "fourier", "Features", "Numbers for a position (or, in the scores, for an offset).",
        labels={
            "table": "Table, a row for each", "sinusoids": "Sinusoids, geometric wavelengths",
            "fourier": "Fourier, random wavelengths", "network": "Network on the number",
            "convolution": "Convolution of the tokens",
        },
    )  # fmt: skip
    design_readout: Literal["direct", "linear", "network"] = setting(
        "linear",
        "Read-out",
        "What turns features into values: nothing, a linear map, or a network with one hidden layer.",
        labels={"direct": "None, as they are", "linear": "Linear", "network": "Network"},
    )
    design_place: Literal["embedding", "scores", "rotation"] = setting(
        "embedding",
        "Acts on",
        "Adds to the embedding, adds to the scores by offset, or turns queries and keys.",
        labels={"embedding": "The embedding", "scores": "The scores", "rotation": "Queries and keys, as a rotation"},
    )
    design_learned: Literal["everything", "features", "readout", "nothing"] = setting(
        "everything", "Learned", "The trained parts. The rest keeps its first values.",
        labels={
            "everything": "Features and read-out", "features": "Features only", "readout": "Read-out only",
            "nothing": "Nothing",
        },
    )  # fmt: skip
    design_init_std: float | None = setting(
        None, "Init scale",
        "Root mean square of the first values. Auto: the token embedding's; in scores 1/√d_model; as angles 1 radian.",
        ge=0.0, le=10.0,
    )  # fmt: skip
    design_width: int = setting(16, "Number of features", "Used with a read-out.", ge=1, le=256)
    design_hidden: int = setting(32, "Hidden units", "Hidden units of each network.", ge=1, le=256)
    design_base: float = setting(
        10_000.0, "Sinusoid base", "b. Wavelengths grow from 2π positions and stay below 2πb.", ge=2.0, le=1e7
    )
    design_length_scale: float = setting(
        4.0,
        "Length scale γ",
        "At the start, positions within this distance have similar Fourier features.",
        ge=0.1,
        le=1000.0,
    )
    design_reach: int = setting(2, "Reach", "Tokens read by the convolution.", ge=1, le=32)

    @property
    def init_std(self) -> float | None:
        return self.design_init_std

    @property
    def ends_at_trained_length(self) -> bool:
        # a table of offsets clips instead: its last rows also stand for all offsets beyond
        return self.design_features == "table" and self.design_place != "scores"

    @property
    def learns_features(self) -> bool:
        return self.design_learned in ("everything", "features")

    @property
    def learns_readout(self) -> bool:
        return self.design_learned in ("everything", "readout")

    @property
    def reads_tokens(self) -> bool:
        return self.design_features == "convolution"

    @property
    def relative(self) -> bool:
        # of these, a shift of all positions turns q and k by the same angle
        waves = self.design_features in ("sinusoids", "fourier")
        return self.design_place == "scores" or self.reads_tokens or (self.design_place == "rotation" and waves)

    @property
    def in_words(self) -> str:
        readout = "readout.network" if self.design_readout == "network" else self.design_readout
        number = "offset" if self.design_place == "scores" else "position"
        return IN_WORDS[self.design_features].format(number=number) + IN_WORDS[readout] + IN_WORDS[self.design_place]

    def specialise(self, spec: EncodingSpec) -> EncodingSpec:
        shown_as = SHOWN_AS if self.reads_tokens else ""
        numbered = not self.reads_tokens
        return replace(spec, acts_on=self.design_place, relative=self.relative, numbered=numbered, shown_as=shown_as)

    def in_run(self, config: BaseConfig, *, max_positions: int, causal: bool) -> Design:
        outputs = {"embedding": config.d_model, "scores": config.n_heads, "rotation": config.head_width // 2}
        auto = {"embedding": config.token_init_std, "scores": config.d_model**-0.5, "rotation": 1.0}
        return Design(
            self, trained=max_positions, outputs=outputs[self.design_place],
            before=self.design_reach, after=0 if causal else self.design_reach,
            scale=auto[self.design_place] if self.design_init_std is None else self.design_init_std,
        )  # fmt: skip

    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        design, hidden = self.in_run(config, max_positions=max_positions, causal=causal), self.design_hidden
        width, outputs = design.width, design.outputs
        features: dict[str, list[Shape]] = {
            "table": [(design.rows, width)],
            "sinusoids": [(design.waves,)],
            "fourier": [(design.waves,)],
            "network": [*dense_shapes(1, hidden), *dense_shapes(hidden, width)],
            "convolution": [(width, design.before + 1 + design.after), (width,)],
        }
        readout: dict[str, list[Shape]] = {
            "direct": [],
            "linear": dense_shapes(width, outputs),
            "network": [*dense_shapes(width, hidden), *dense_shapes(hidden, outputs)],
        }
        shapes = features[self.design_features] if self.learns_features else []
        return shapes + (readout[self.design_readout] if self.learns_readout else [])

    def bytes_bound(self, stack: StackShape) -> int:
        design = self.in_run(stack.config, max_positions=stack.length, causal=stack.causal)
        rows = {"embedding": stack.length, "scores": stack.length**2, "rotation": 2 * stack.length}[self.design_place]
        rows = stack.config.batch_size * stack.length if self.reads_tokens else rows
        turned = 6 * stack.queries * stack.config.head_width if self.design_place == "rotation" else 0
        networks = (self.design_features == "network") + (self.design_readout == "network")
        numbers = 4 * design.width + 3 * self.design_hidden * networks + 3 * design.outputs + 4
        return SINGLE * (rows * numbers + turned)

    def broken_rules(self, config: BaseConfig) -> Iterator[tuple[str, str]]:
        if self.design_features == "convolution" and self.design_place != "embedding":
            yield "design_place", "embedding for design_features convolution, which gives neither offsets nor angles"
        if self.design_place == "rotation" and self.design_readout != "direct":
            yield "design_readout", "direct for design_place rotation, where the features are the angles"


@dataclass(frozen=True)
class Design:
    parts: DesignedSettings
    trained: int  # positions of the longest sequence trained
    # numbers that the place takes: d_model, one for each head, or one angle for each pair of dimensions
    outputs: int
    before: int
    after: int  # tokens that a convolution reads before and after each token
    scale: float  # RMS of the first values, over the trained positions

    @property
    def width(self) -> int:
        """The number of features: as many as values are needed, unless a read-out follows."""
        if self.parts.design_readout == "direct" or self.parts.reads_tokens:
            return self.outputs
        return self.parts.design_width

    @property
    def waves(self) -> int:
        return self.width if self.parts.design_place == "rotation" else -(-self.width // 2)

    @property
    def first_row(self) -> int:
        return 1 - self.trained if self.parts.design_place == "scores" else 0

    @property
    def rows(self) -> int:
        return self.trained - self.first_row


SPEC = EncodingSpec(
    name="designed", label="Your own design", acts_on="embedding", settings=DesignedSettings,
    equation=r"\text{features of } i \text{ or } j - i \to \text{read-out} \to \text{embedding, scores or rotation}",
    source="Put together on the page Encodings", layer="engine.encodings.designed.layer:Designed", color="#E53150",
)  # fmt: skip

"""An encoding of one's own: what its parts come to under a config. Torch-free.

Features of a position (or, in the scores, of an offset), a read-out, and the place where what is read out acts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.encodings.parameters import DesignedParameters

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Design:
    """The parts with their sizes."""

    parts: DesignedParameters
    trained: int
    """Positions of the longest sequence trained."""
    outputs: int
    """Numbers that the place takes: d_model, one a head, or one angle a pair of dimensions."""
    before: int
    after: int
    """How far a convolution reads."""
    scale: float
    """Root mean square of what first comes out, over the trained positions."""

    @property
    def width(self) -> int:
        """How many features there are: as many as come out, unless something reads them out."""
        if self.parts.design_readout == "direct" or self.parts.design_features == "convolution":
            return self.outputs
        return self.parts.design_width

    @property
    def waves(self) -> int:
        """How many frequencies: in a rotation each is an angle, elsewhere a cosine and a sine."""
        return self.width if self.parts.design_place == "rotation" else -(-self.width // 2)

    @property
    def lowest(self) -> int:
        """The first row of a table: position 0, or the offset furthest back."""
        return 1 - self.trained if self.parts.design_place == "scores" else 0

    @property
    def rows(self) -> int:
        return self.trained - self.lowest

    @property
    def learns_features(self) -> bool:
        return self.parts.design_learned in ("everything", "features")

    @property
    def learns_readout(self) -> bool:
        return self.parts.design_learned in ("everything", "readout")


def design_of(config: RunConfig, *, max_positions: int, causal: bool) -> Design:
    parts = config.encoding_settings
    assert isinstance(parts, DesignedParameters)
    outputs = {"embedding": config.d_model, "scores": config.n_heads, "rotation": config.head_width // 2}
    auto = {"embedding": config.token_init_std, "scores": config.d_model**-0.5, "rotation": 1.0}
    std, reach = parts.design_init_std, parts.design_reach
    return Design(
        parts,
        trained=max_positions,
        outputs=outputs[parts.design_place],
        before=reach,
        after=0 if causal else reach,
        scale=auto[parts.design_place] if std is None else std,
    )


def learned_shapes(design: Design) -> list[Shape]:
    """Of every tensor that is trained."""
    parts, width = design.parts, design.width
    features: dict[str, list[Shape]] = {
        "table": [(design.rows, width)],
        "sinusoids": [(design.waves,)],
        "fourier": [(design.waves,)],
        "network": [(parts.design_hidden, 1), (parts.design_hidden,), (width, parts.design_hidden), (width,)],
        "convolution": [(width, design.before + 1 + design.after), (width,)],
    }
    hidden = parts.design_hidden
    readout: dict[str, list[Shape]] = {
        "direct": [],
        "linear": [(design.outputs, width), (design.outputs,)],
        "network": [(hidden, width), (hidden,), (design.outputs, hidden), (design.outputs,)],
    }
    shapes = features[parts.design_features] if design.learns_features else []
    return shapes + (readout[parts.design_readout] if design.learns_readout else [])


def decided_by(parts: DesignedParameters) -> dict[str, Any]:
    """What the parts decide of the registry's row."""
    place, features = parts.design_place, parts.design_features
    shifts = (
        place == "scores" or features == "convolution" or (place == "rotation" and features in ("sinusoids", "fourier"))
    )
    return {"acts_on": place, "relative": shifts, "numbered": features != "convolution"}

"""Your own design: its settings, and what is known of it without running it. Torch-free."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.encodings.design import decided_by, design_of, learned_shapes
from engine.encodings.parameters import DesignedParameters
from engine.encodings.row import EncodingRow
from engine.encodings.saved import UNKNOWN
from engine.encodings.shapes import Shape
from engine.encodings.work import Reading, Work, pointwise, product, turns

if TYPE_CHECKING:
    from engine.config.run_config import RunConfig


def parts_fit(c: RunConfig) -> tuple[str, str] | None:
    parts = c.encoding_settings
    if not isinstance(parts, DesignedParameters):
        return None
    if parts.design_features == "convolution" and parts.design_place != "embedding":
        return "design_place", "embedding for design_features convolution, which gives neither offsets nor angles"
    if parts.design_place == "rotation" and parts.design_readout != "direct":
        return "design_readout", "direct for design_place rotation, where the features are the angles"
    return None


def learns(c: RunConfig, rows: int, causal: bool) -> list[Shape]:
    return learned_shapes(design_of(c, max_positions=rows, causal=causal))


def work(r: Reading) -> Work:
    """Features at each place where they are asked for, then what reads them out, then the turning where they are angles."""
    design = design_of(r.config, max_positions=r.length, causal=r.causal)
    parts, learns, reads = design.parts, design.learns_features, design.learns_readout
    of_tokens = parts.design_features == "convolution"
    rows = {"embedding": r.length, "scores": r.pairs, "rotation": 2 * r.length}[parts.design_place]
    rows = r.config.batch_size * r.length if of_tokens else rows
    hidden = parts.design_hidden
    waves = pointwise(rows * design.waves, 1 if parts.design_place == "rotation" else 3, passes=1 + 2 * learns)
    features = {
        "table": Work(),
        "sinusoids": waves,
        "fourier": waves,
        "network": product(rows, 1, hidden, passes=1 + learns)
        + product(rows, hidden, design.width, passes=1 + 2 * learns),
        "convolution": product(rows * design.width, design.before + 1 + design.after, 1, passes=2 + learns),
    }
    before = of_tokens or learns  # whether learning reaches what is read out
    readout = {
        "direct": Work(),
        "linear": product(rows, design.width, design.outputs, passes=1 + before + reads),
        "network": product(rows, design.width, hidden, passes=1 + before + reads)
        + product(rows, hidden, design.outputs, passes=1 + (before or reads) + reads),
    }
    asked = features[parts.design_features] + readout[parts.design_readout]
    if parts.design_place == "embedding":
        return asked
    return r.layers * asked + (turns(r) if parts.design_place == "rotation" else Work())


ROW = EncodingRow(
    name="designed",
    label="Your own design",
    acts_on="embedding",
    parameters=DesignedParameters,
    equation=r"\text{features of } i \text{ or } j - i \to \text{read-out} \to \text{embedding, scores or rotation}",
    source="Put together on the page Design",
    implementation="engine.encodings.designed:Designed",
    color="#F9068C",
    decided_by=decided_by,
    learns=learns,
    work=work,
    saved=UNKNOWN,
    rules=(parts_fit,),
)

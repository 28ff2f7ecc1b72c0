"""What each encoding computes: the floating-point operations that it adds to a training step, from the config alone. Torch-free.

Counted as for the model (:mod:`engine.predict`): sums, look-ups, activations and masks cost nothing. An encoding that only looks up
and adds (a table, T5's buckets, ALiBi) is therefore not named here. Time is another matter: what gathers and sums along
rows (Shaw, CoPE) moves many numbers for few operations, and takes longer than its share says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from engine.encodings.design import design_of

if TYPE_CHECKING:
    from engine.config import RunConfig


@dataclass(frozen=True)
class Work:
    """Floating-point operations of one training step, forward and backward."""

    products: float = 0.0
    """Of matrix products and convolutions, a multiplication and an addition each; what torch's own counter sees."""
    elementwise: float = 0.0
    """Of functions of single numbers and turns, one for each operation; a logarithm or a cosine counts as one."""

    @property
    def flops(self) -> float:
        return self.products + self.elementwise

    def __add__(self, other: Work) -> Work:
        return Work(self.products + other.products, self.elementwise + other.elementwise)

    def __rmul__(self, times: int) -> Work:
        return Work(times * self.products, times * self.elementwise)


@dataclass(frozen=True)
class Reading:
    """What one stack reads in a step, and so how often an encoding is asked."""

    config: RunConfig
    length: int
    causal: bool

    @property
    def layers(self) -> int:
        """What acts on scores, queries or keys is computed anew in every layer, also where layers share it."""
        return self.config.n_layers

    @property
    def pairs(self) -> int:
        """Of a query and a key, in one sequence."""
        return self.length**2

    @property
    def queries(self) -> int:
        """Of every head and sequence."""
        return self.config.batch_size * self.config.n_heads * self.length


def product(rows: int, inputs: int, outputs: int, *, passes: int = 3) -> Work:
    """[rows, inputs] times [inputs, outputs]. ``passes``: forward, and backward once for each side that learning reaches."""
    return Work(products=2.0 * passes * rows * inputs * outputs)


def pointwise(numbers: int, operations: int, *, passes: int = 3) -> Work:
    """So many operations on each number. ``passes`` as for a product: a constant factor takes one way back, a learned one two."""
    return Work(elementwise=float(passes * numbers * operations))


def network(rows: int, widths: list[int], *, passes: int = 3) -> Work:
    """Dense layers one after the other; ``passes`` of the first, whose input may be a constant."""
    (first, *further) = pairwise(widths)
    return sum((product(rows, *sizes) for sizes in further), product(rows, *first, passes=passes))


def _fourier(r: Reading) -> Work:
    waves, width = r.config.value("fourier_frequencies"), r.config.value("fourier_width")
    waved = pointwise(r.length * waves, 3)  # the angle, its cosine, its sine
    return waved + network(r.length, [2 * waves, width, r.config.d_model])


def _mlp(r: Reading) -> Work:
    width, layers = r.config.value("position_mlp_width"), r.config.value("position_mlp_layers")
    return network(r.length, [1, *layers * [width], r.config.d_model], passes=2)


def _conv(r: Reading) -> Work:
    taps = r.config.value("conv_reach") * (1 if r.causal else 2) + 1
    return product(r.config.batch_size * r.length * r.config.d_model, taps, 1)


def _shaw(r: Reading) -> Work:
    """Each query with each vector of an offset, and the pattern, summed by offset, with those of the values."""
    by_offset = product(r.queries, r.config.head_width, 2 * r.config.value("shaw_max_distance") + 1)
    tables = 2 if r.config.value("shaw_values") else 1
    return r.layers * tables * by_offset


def _kerple(r: Reading) -> Work:
    """r_1 log(1 + r_2 distance), or r_1 distance^r_2."""
    operations = 3 if r.config.value("kerple_kernel") == "log" else 2
    return r.layers * pointwise(r.config.n_heads * r.pairs, operations)


def _fire(r: Reading) -> Work:
    distances = pointwise(r.pairs, 5)  # two psi, of a product and a logarithm each, and their quotient
    return r.layers * (distances + network(r.pairs, [1, r.config.value("fire_width"), r.config.n_heads]))


def _cope(r: Reading) -> Work:
    """Gates, a product of every query and key once more; then for each direction sums of gates, the queries with the vectors of the
    counts, and the interpolation between two of them (the share, its rest, two products, their sum)."""
    width, counts = r.config.head_width, r.config.value("cope_counts")
    gates = product(r.queries, width, r.length) + pointwise(r.queries * r.length, 1)
    direction = product(r.queries, width, counts) + pointwise(r.queries * r.length, 6)
    return r.layers * (gates + (1 if r.causal else 2) * direction)


def _turns(r: Reading, operations: int = 3) -> Work:
    """Queries and keys, turned by constants: two products and a sum a number."""
    return r.layers * pointwise(2 * r.queries * r.config.head_width, operations, passes=2)


def _xpos(r: Reading) -> Work:
    """Turned and made smaller; looking both ways, all scores with the factors exchanged, and those to take away."""
    turns = _turns(r, operations=4)
    if r.causal or r.config.attention_score == "additive":
        return turns
    return turns + _turns(r, operations=1) + 2 * r.layers * product(r.queries, r.config.head_width, r.length)


def _designed(r: Reading) -> Work:
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
    return r.layers * asked + (_turns(r) if parts.design_place == "rotation" else Work())


WORK: dict[str, Callable[[Reading], Work]] = {
    "fourier": _fourier,
    "mlp": _mlp,
    "conv": _conv,
    "shaw": _shaw,
    "kerple": _kerple,
    "fire": _fire,
    "cope": _cope,
    "rope": _turns,
    "xpos": _xpos,
    "designed": _designed,
}
"""By encoding: what it computes in one stack."""


def encoding_work(config: RunConfig, length: int, source_length: int | None = None) -> Work:
    """In all stacks, on [batch_size, length]; an encoder-decoder's encoder reads ``source_length``."""
    work_of = WORK.get(config.pos_encoding)
    if work_of is None or not config.family_row.attends:
        return Work()
    stacks = [Reading(config, length, config.causal)]
    if source_length is not None:
        stacks.append(Reading(config, source_length, causal=False))
    return sum(map(work_of, stacks), Work())

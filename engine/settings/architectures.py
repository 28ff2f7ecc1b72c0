"""The registry of architectures (the setting ``family``): the positions that each may see, and the shapes of a baseline's layers.

Three are transformers; the others are the baselines that attention is compared with. A baseline has no attention, so
positional encoding, heads and scores do not apply to it: ``d_model`` is its width and ``n_layers`` its layers.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from engine.settings.base import BaseConfig

# they are twice as far apart in each layer as in the one before
KERNEL = 3

PartShape = tuple[str, tuple[int, ...]]


@dataclass(frozen=True)
class Architecture:
    name: str
    label: str
    reads_as: str  # the transformer family with the same tasks and sequence layout
    causal: bool = True
    # of a baseline: the part and shape of every parameter between embedding and head
    layer_shapes: Callable[[BaseConfig], Iterator[PartShape]] | None = None
    layers: str = ""
    # the number of positions that an answer can depend on; None for all positions read
    sees: Callable[[BaseConfig], int | None] = lambda config: None

    @property
    def attends(self) -> bool:
        return self.layer_shapes is None


def _recurrent(gates: int) -> Callable[[BaseConfig], Iterator[PartShape]]:
    """Shapes of layers in which each gate reads input and state, with a bias for either: g (2 d^2 + 2 d) parameters per layer."""

    def shapes(config: BaseConfig) -> Iterator[PartShape]:
        rows = gates * config.d_model
        for _ in range(config.n_layers):
            yield from (("recurrent", (rows, config.d_model)) for _ in ("input", "state"))
            yield from (("recurrent", (rows,)) for _ in ("input", "state"))

    return shapes


def _convolutions(config: BaseConfig) -> Iterator[PartShape]:
    """Shapes with k d^2 + d parameters per layer, and the norm's."""
    for _ in range(config.n_layers):
        yield from (("convolution", (config.d_model, config.d_model, KERNEL)), ("convolution", (config.d_model,)))
    norms = {"pre": config.n_layers + 1, "post": config.n_layers, "none": 0}[config.norm]
    yield from norms * config.norm_tensors * [("norm", (config.d_model,))]


def receptive_field(config: BaseConfig) -> int:
    """The number of positions 1 + (k - 1)(1 + 2 + 4 + ...)."""
    depth: int = config.n_layers
    return 1 + (KERNEL - 1) * ((1 << depth) - 1)


def architecture_of(config: BaseConfig) -> Architecture:
    return ARCHITECTURES[config.family]


ARCHITECTURES: dict[str, Architecture] = {
    row.name: row
    for row in (
        Architecture("decoder", "Decoder (causal)", "decoder"),
        Architecture("encoder", "Encoder (bidirectional)", "encoder", causal=False),
        Architecture("encoder_decoder", "Encoder-decoder", "encoder_decoder"),
        Architecture(
            "gru", "GRU (no attention)", "decoder", layer_shapes=_recurrent(3), layers="engine.model.baselines:Gru"
        ),
        Architecture(
            "lstm", "LSTM (no attention)", "decoder", layer_shapes=_recurrent(4), layers="engine.model.baselines:Lstm"
        ),
        Architecture(
            "cnn", "Dilated causal CNN (no attention)", "decoder", layer_shapes=_convolutions,
            layers="engine.model.baselines:Convolutions", sees=receptive_field,
        ),
    )
}  # fmt: skip

"""One block: self-attention, cross-attention if there is a source, and an MLP, each a residual branch."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn.functional import gelu, relu, silu

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding, Positions
from engine.encodings.base.modules import DepthwiseConvolution
from engine.model.activations import ActivationCache, record
from engine.model.attention import Attention, FirstValues
from engine.model.layers import Dropout, norm_layer
from engine.model.masks import Mask
from engine.model.precision import lowered

NOWHERE = PositionalEncoding()  # for cross-attention: positions of two different sequences are not comparable

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": relu, "gelu": gelu, "swiglu": silu, "none": lambda hidden: hidden
}  # fmt: skip


class Mlp(nn.Module):
    """Two dense layers applied at each position, [batch, length, d_model] -> the same.

    With SwiGLU a third one multiplies the hidden units: (swish(x W) * x V) W_2 (Shazeer 2020, GLU Variants Improve Transformer,
    equation 6), here with a bias as in the other two; two thirds of the hidden units keep the number of weights.
    """

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.d_model, config.mlp_width)
        self.activation = ACTIVATIONS[config.activation]
        self.gate = nn.Linear(config.d_model, config.mlp_width) if config.gated_mlp else None
        self.down = nn.Linear(config.mlp_width, config.d_model)

    def forward(self, x: Tensor, cache: ActivationCache | None = None, name: str = "") -> Tensor:
        hidden = self.activation(self.up(x))  # [batch, length, d_ff]
        if self.gate is not None:
            hidden = hidden * self.gate(x)
        record(cache, f"{name}.hidden", hidden)
        out: Tensor = self.down(hidden)
        record(cache, f"{name}.out", out)
        return out


class Residual(nn.Module):
    """A residual connection of a branch f: pre x + s f(LN x), post LN(x + s f(x)), none x + s f(x); without skips, no x +.

    Source: Xiong et al. 2020, On Layer Normalization in the Transformer Architecture, table 1. With ``depth_scale`` the LN of pre
    in layer l, counted from 1, is divided by the root of l (Sun et al. 2025, The Curse of Depth in Large Language Models: LayerNorm
    Scaling).
    """

    def __init__(self, config: RunConfig, layer: int = 0) -> None:
        super().__init__()
        self.norm_position = config.norm
        self.skip = config.skips
        self.scale = config.residual_scale
        self.dropout = Dropout(config.dropout)
        self.norm = nn.Identity() if config.norm == "none" else norm_layer(config, config.d_model)
        self.norm_scale = (layer + 1) ** -0.5 if config.depth_scale else 1.0

    def before(self, x: Tensor) -> Tensor:
        """The input of the branch, [batch, length, d_model] -> the same."""
        if self.norm_position == "pre":
            x = self.norm(x) if self.norm_scale == 1.0 else self.norm(x) * self.norm_scale
        return lowered(x)

    def joined(self, x: Tensor, branch: Tensor) -> Tensor:
        """Join the branch's output with its input ``x``, both [batch, length, d_model], before the norm of post-LN."""
        branch = self.dropout(branch)
        if self.scale != 1.0:
            branch = branch * self.scale
        return x + branch if self.skip else branch.to(x.dtype)

    def after(self, x: Tensor, branch: Tensor) -> Tensor:
        joined = self.joined(x, branch)
        return self.norm(joined) if self.norm_position == "post" else joined


class Block(nn.Module):
    """A block, [batch, length, d_model] -> the same. Layers count from 0."""

    def __init__(self, config: RunConfig, layer: int = 0, *, cross: bool) -> None:
        super().__init__()
        # Allen-Zhu 2025, Physics of Language Models, part 4.1 (arXiv 2512.17351): a Canon layer before attention
        self.mix = DepthwiseConvolution(config.d_model, config.local_mix, 0) if config.local_mix else None
        self.attention = Attention(config)
        self.attention_residual = Residual(config, layer)
        self.cross = Attention(config) if cross else None
        self.cross_residual = Residual(config, layer) if cross else None
        self.mlp = Mlp(config) if config.mlp else None
        self.mlp_residual = Residual(config, layer) if config.mlp else None

    def forward(
        self,
        x: Tensor,
        mask: Mask | None,
        encoding: PositionalEncoding,
        positions: Positions,
        source: Tensor | None = None,
        cache: ActivationCache | None = None,
        name: str = "",
        first_values: FirstValues | None = None,
    ) -> Tensor:
        """[batch, length, d_model] -> the same. Cross-attention reads ``source`` [batch, source length, d_model]."""
        read = self.attention_residual.before(x)
        if self.mix is not None:
            read = read + self.mix(read)
        x = self.attention_residual.after(
            x, self.attention(read, read, mask, encoding, positions, cache, f"{name}.self", first_values)
        )
        if self.cross is not None and self.cross_residual is not None and source is not None:
            read = self.cross_residual.before(x)
            x = self.cross_residual.after(x, self.cross(read, source, None, NOWHERE, positions, cache, f"{name}.cross"))
        if self.mlp is not None and self.mlp_residual is not None:
            x = self.mlp_residual.after(x, self.mlp(self.mlp_residual.before(x), cache, f"{name}.mlp"))
        record(cache, f"{name}.out", x)
        return x

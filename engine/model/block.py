"""One block: self-attention, cross-attention where there is a source, and an MLP, each a residual branch."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn.functional import gelu, relu

from engine.config.run_config import RunConfig
from engine.encodings.base.layer import PositionalEncoding, Positions
from engine.encodings.base.modules import DepthwiseConvolution
from engine.model.activations import ActivationCache, record
from engine.model.attention import Attention
from engine.model.layers import Dropout
from engine.model.masks import Mask
from engine.model.precision import lowered

NOWHERE = PositionalEncoding()
"""The encoding of cross-attention, which is none: the positions of two different sequences are not comparable."""

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": relu, "gelu": gelu, "none": lambda hidden: hidden}


class Mlp(nn.Module):
    """Two dense layers applied at each position, [batch, length, d_model] -> the same."""

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.up = nn.Linear(config.d_model, config.mlp_width)
        self.activation = ACTIVATIONS[config.activation]
        self.down = nn.Linear(config.mlp_width, config.d_model)

    def forward(self, x: Tensor, cache: ActivationCache | None = None, name: str = "") -> Tensor:
        hidden = self.activation(self.up(x))  # [batch, length, d_ff]
        record(cache, f"{name}.hidden", hidden)
        out: Tensor = self.down(hidden)
        record(cache, f"{name}.out", out)
        return out


class Residual(nn.Module):
    """A residual connection of a branch f: pre x + s f(LN x), post LN(x + s f(x)), none x + s f(x); without skips, no x +.

    Source: Xiong et al. 2020, On Layer Normalization in the Transformer Architecture, table 1.
    """

    def __init__(self, config: RunConfig) -> None:
        super().__init__()
        self.norm_position = config.norm
        self.skip = config.skips
        self.scale = config.residual_scale
        self.dropout = Dropout(config.dropout)
        self.norm = nn.Identity() if config.norm == "none" else nn.LayerNorm(config.d_model)

    def before(self, x: Tensor) -> Tensor:
        """The input of the branch, [batch, length, d_model] -> the same."""
        return lowered(self.norm(x) if self.norm_position == "pre" else x)

    def joined(self, x: Tensor, branch: Tensor) -> Tensor:
        """The branch's output joined with the branch's input ``x``, both [batch, length, d_model], before the norm of post-LN."""
        branch = self.dropout(branch)
        if self.scale != 1.0:
            branch = branch * self.scale
        return x + branch if self.skip else branch.to(x.dtype)

    def after(self, x: Tensor, branch: Tensor) -> Tensor:
        """The stream after the branch, [batch, length, d_model]."""
        joined = self.joined(x, branch)
        return self.norm(joined) if self.norm_position == "post" else joined


class Block(nn.Module):
    """Self-attention, cross-attention where asked, and an MLP, [batch, length, d_model] -> the same."""

    def __init__(self, config: RunConfig, *, cross: bool) -> None:
        super().__init__()
        # Allen-Zhu 2025, Physics of Language Models, part 4.1 (arXiv 2512.17351): a Canon layer before attention
        self.mix = DepthwiseConvolution(config.d_model, config.local_mix, 0) if config.local_mix else None
        self.attention = Attention(config)
        self.attention_residual = Residual(config)
        self.cross = Attention(config) if cross else None
        self.cross_residual = Residual(config) if cross else None
        self.mlp = Mlp(config) if config.mlp else None
        self.mlp_residual = Residual(config) if config.mlp else None

    def forward(
        self,
        x: Tensor,
        mask: Mask | None,
        encoding: PositionalEncoding,
        positions: Positions,
        source: Tensor | None = None,
        cache: ActivationCache | None = None,
        name: str = "",
    ) -> Tensor:
        """[batch, length, d_model] -> the same. Cross-attention reads ``source`` [batch, source length, d_model]."""
        read = self.attention_residual.before(x)
        if self.mix is not None:
            read = read + self.mix(read)
        x = self.attention_residual.after(
            x, self.attention(read, read, mask, encoding, positions, cache, f"{name}.self")
        )
        if self.cross is not None and self.cross_residual is not None and source is not None:
            read = self.cross_residual.before(x)
            x = self.cross_residual.after(x, self.cross(read, source, None, NOWHERE, positions, cache, f"{name}.cross"))
        if self.mlp is not None and self.mlp_residual is not None:
            x = self.mlp_residual.after(x, self.mlp(self.mlp_residual.before(x), cache, f"{name}.mlp"))
        record(cache, f"{name}.out", x)
        return x

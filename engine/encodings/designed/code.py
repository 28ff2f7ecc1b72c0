"""A design written out as Python: the two files of an encoding that gives the same numbers.

The text is made of fixed lines chosen by the parts; of what a person typed it contains only numbers.
"""

import re
from dataclasses import dataclass

from engine.encodings.designed import SPEC, DesignedSettings

SPEC_PY = '''\
"""My encoding: settings, costs and registry row."""

from engine.encodings.base import EncodingSettings, EncodingSpec
from engine.encodings.designed import DesignedSettings
from engine.settings.base import BaseConfig
from engine.settings.costs import Flops, Shape, StackShape

PARTS = DesignedSettings(
    {parts},
)
"""The parts of the design, from which the costs follow. If you change what layer.py computes, state its costs below yourself."""


class MyEncodingSettings(EncodingSettings):
    def parameter_shapes(self, config: BaseConfig, max_positions: int, causal: bool) -> list[Shape]:
        return PARTS.parameter_shapes(config, max_positions, causal)

    def flops(self, stack: StackShape) -> Flops:
        return PARTS.flops(stack)

    def has_memory_formula(self, config: BaseConfig) -> bool:
        return PARTS.has_memory_formula(config)

    def layer_bytes_bound(self, stack: StackShape) -> int:
        return PARTS.layer_bytes_bound(stack)

    @property
    def ends_at_trained_length(self) -> bool:
        return {ends}

    @property
    def init_std(self) -> float | None:
        return {init_std}


SPEC = EncodingSpec(
    name="my_encoding",
    label="My encoding",
    acts_on="{row.acts_on}",
    settings=MyEncodingSettings,
    equation=r"\\text{{what it computes, in TeX}}",
    source="Where it comes from",
    layer="engine.encodings.my_encoding.layer:MyEncoding",
    color="#F9068C",
    relative={row.relative},
    numbered={row.numbered},
    shown_as="{row.shown_as}",
)
'''
LAYER_PY = '''\
"""My encoding: the torch module."""

import torch
from torch import Tensor
{imports}


class MyEncoding(PositionalEncoding):
    """{in_words}"""
{tensor}
    def __init__(self, config: BaseConfig, own: MyEncodingSettings, *, max_positions: int, causal: bool) -> None:
        super().__init__()
        {made}

    def values(self, at: Tensor) -> Tensor:
        {values}

    {acts}
'''
IMPORTS = {
    "torch.nn.functional": ("embedding", "gelu"),
    "engine.encodings.base.layer": (
        *("PositionalEncoding", "PositionOutOfRange", "Positions"),
        *("bias_matrices", "index_of", "offsets", "row_matrices"),
    ),
    "engine.encodings.base.modules": (
        *("Dense", "DepthwiseConvolution"),
        *("at_least_single", "register_tensor", "root_mean_square"),
    ),
    "engine.encodings.base.rotation": ("partners",),
    "engine.encodings.my_encoding": ("MyEncodingSettings",),
    "engine.settings.base": ("BaseConfig",),
}
"""By module, the names of which a layer imports those that it uses, as sorted imports have them."""
OUTPUTS = {"embedding": "config.d_model", "scores": "config.n_heads", "rotation": "config.head_width // 2"}
AUTO = {"embedding": "config.token_init_std", "scores": "config.d_model**-0.5", "rotation": "1.0"}
READ = {"direct": "{}", "linear": "self.readout({})", "network": "self.readout(gelu(self.hidden({})))"}
ACTS = {
    "tokens": """\
def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:
    real = x if token_mask is None else x.masked_fill(~token_mask[..., None], 0.0)
    return x + self.values(real).to(x.dtype)

@torch.no_grad()
def matrices(self, length: int) -> dict[str, Tensor]:
    rows = self.values(torch.ones(1, length, len(self.mix.kernel)))[0]
    return {"matrix": rows, "similarity": self.mix.overlap(length)}""",
    "embedding": """\
def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:
    at = index_of(positions, x.device).to(at_least_single(x))
    return x + self.values(at).to(x.dtype)

def matrices(self, length: int) -> dict[str, Tensor]:
    return row_matrices(self.values(torch.arange(length).float()))""",
    "scores": """\
def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:
    offset = offsets(query_positions, key_positions, q.device).to(at_least_single(q))
    return self.values(offset).permute(2, 0, 1)[None].to(q.dtype)  # [1, head, query, key]

def matrices(self, length: int) -> dict[str, Tensor]:
    offset = offsets(range(length), range(length), torch.device("cpu")).float()
    return bias_matrices(self.values(offset).permute(2, 0, 1))""",
    "rotation": """\
def rotate(self, t: Tensor, positions: Positions) -> Tensor:
    turn = self.values(index_of(positions, t.device).to(at_least_single(t)))  # [position, d_head / 2]
    cos = torch.cat([turn.cos(), turn.cos()], dim=-1).to(t.dtype)
    sin = torch.cat([-turn.sin(), turn.sin()], dim=-1).to(t.dtype)
    return t * cos + partners(t, "rotate_half") * sin

@torch.no_grad()
def matrices(self, length: int) -> dict[str, Tensor]:
    turn = self.values(torch.arange(length).float())
    return {"matrix": turn, "similarity": (turn[:, None] - turn[None, :]).cos().mean(-1)}""",
}
"""The hook of each place, and of features that are made of the tokens; and the matrices to plot."""

Lines = list[str]


@dataclass(frozen=True)
class Written:
    """The text of the files in ``engine/encodings/my_encoding/``."""

    spec: str
    """``__init__.py``"""
    layer: str
    """``layer.py``"""


def written(parts: DesignedSettings) -> Written:
    chosen = (f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in parts)
    spec = SPEC_PY.format(
        parts=",\n    ".join(chosen),
        ends=parts.ends_at_trained_length,
        init_std=parts.init_std,
        row=parts.specialise(SPEC),
    )
    return Written(spec, _layer_code(parts))


def _layer_code(parts: DesignedSettings) -> str:
    tensor = {"table": "table", "sinusoids": "frequencies", "fourier": "frequencies"}.get(parts.design_features)
    code = LAYER_PY.format(
        imports="{imports}",
        in_words=parts.in_words,
        tensor=f"\n    {tensor}: Tensor\n" if tensor else "",
        made=_indented(2, [*_features_made(parts), *_readout_made(parts), *_scaled(parts)]),
        values=_indented(2, _values(parts)),
        acts=_indented(1, ACTS["tokens" if parts.reads_tokens else parts.design_place].splitlines()),
    )
    imports: Lines = []
    for module, names in IMPORTS.items():
        used = [name for name in names if re.search(rf"(?<![\w.]){name}[(),]", code)]
        gap = "\n" if module == "engine.encodings.base.layer" else ""
        imports += [f"{gap}from {module} import {', '.join(used)}"] if used else []
    return code.replace("{imports}", "\n".join(imports))


def _indented(by: int, lines: Lines) -> str:
    """The lines, all but the first moved to the right by so many levels; empty lines stay empty."""
    return "\n".join(["    " * by + line if line else "" for line in lines]).lstrip()


def _register(name: str, tensor: str, learned: bool) -> str:
    return f'register_tensor(self, "{name}", {tensor}, learned={learned})'


def _dense(name: str, inputs: str, outputs: str, learned: bool) -> str:
    return f"self.{name} = Dense({inputs}, {outputs}{'' if learned else ', learned=False'})"


def _width(parts: DesignedSettings) -> str:
    """The number of features, as Python."""
    direct = parts.design_readout == "direct" or parts.reads_tokens
    return OUTPUTS[parts.design_place] if direct else str(parts.design_width)


def _waves(parts: DesignedSettings) -> str:
    """The number of frequencies, as Python."""
    if parts.design_place == "rotation":
        return OUTPUTS["rotation"]
    return f"({_width(parts)} + 1) // 2" if parts.design_readout == "direct" else str(-(-parts.design_width // 2))


def _scale(parts: DesignedSettings) -> str:
    return AUTO[parts.design_place] if parts.design_init_std is None else repr(parts.design_init_std)


def _features_made(parts: DesignedSettings) -> Lines:
    learned, width, hidden = parts.learns_features, _width(parts), str(parts.design_hidden)
    match parts.design_features:
        case "table" if parts.design_place == "scores":
            table = _register("table", f"torch.randn(2 * max_positions - 1, {width})", learned)
            return ["self.last = max_positions - 1", table]
        case "table":
            return [_register("table", f"torch.randn(max_positions, {width})", learned)]
        case "network":
            layers = _dense("first", "1", hidden, learned), _dense("second", hidden, width, learned)
            return ["self.trained = max_positions", *layers]
        case "convolution":
            reach, frozen = parts.design_reach, "" if learned else ", learned=False"
            mix = f"DepthwiseConvolution(config.d_model, {reach}, 0 if causal else {reach}{frozen})"
            return [f"self.reads_before = {reach}", f"self.mix = {mix}"]
        case "sinusoids":
            frequencies = f"{parts.design_base!r} ** -(torch.arange(waves) / waves)"
            made = [f"waves = {_waves(parts)}", _register("frequencies", frequencies, learned)]
        case "fourier":
            frequencies = f"torch.randn({_waves(parts)}) / {parts.design_length_scale!r}"
            made = [_register("frequencies", frequencies, learned)]
    if parts.design_place != "rotation":
        made += [f"self.width = {width}"]
        made += [f"self.amplitude = 2**0.5 * {_scale(parts)}"] if parts.design_readout == "direct" else []
    return made


def _readout_made(parts: DesignedSettings) -> Lines:
    width, outputs, learned = _width(parts), OUTPUTS[parts.design_place], parts.learns_readout
    if parts.design_readout == "linear":
        return [_dense("readout", width, outputs, learned)]
    if parts.design_readout == "network":
        hidden = str(parts.design_hidden)
        return [_dense("hidden", width, hidden, learned), _dense("readout", hidden, outputs, learned)]
    return []


def _scaled(parts: DesignedSettings) -> Lines:
    """Scaling the first values; the scale of waves is their known amplitude."""
    direct = parts.design_readout == "direct"
    if direct and parts.design_features in ("sinusoids", "fourier"):
        return []
    first = "1 - max_positions, " if parts.design_place == "scores" else ""
    seen = f"torch.arange({first}max_positions).float()"
    if parts.reads_tokens:
        seen = "torch.randn(1, 64, config.d_model) * config.token_init_std"
    factor = f"{_scale(parts)} / root_mean_square(self.values(seen))"
    last = {"network": "second", "convolution": "mix"}.get(parts.design_features) if direct else "readout"
    return [f"seen = {seen}", f"self.{last}.scale({factor})" if last else f"self.table.data *= {factor}"]


def _values(parts: DesignedSettings) -> Lines:
    """The features at each place where they are asked for, and what reads them out."""
    before: Lines = []
    match parts.design_features:
        case "table" if parts.design_place == "scores":
            found = "embedding(at.clamp(-self.last, self.last).long() + self.last, self.table)"
        case "table":
            beyond = "raise PositionOutOfRange(int(at.max()), len(self.table))"
            before = ["if at.max() >= len(self.table):", f"    {beyond}"]
            found = "embedding(at.long(), self.table)"
        case "network":
            found = "self.second(gelu(self.first(at[..., None] / self.trained)))"
        case "convolution":
            found = "self.mix(at)"
        case _ if parts.design_place == "rotation":
            found = "at[..., None] * self.frequencies"
        case _:
            before = ["phases = at[..., None] * self.frequencies"]
            amplitude = "self.amplitude * " if parts.design_readout == "direct" else ""
            found = f"{amplitude}torch.cat([phases.cos(), phases.sin()], dim=-1)[..., : self.width]"
    return [*before, f"values: Tensor = {READ[parts.design_readout].format(found)}", "return values"]

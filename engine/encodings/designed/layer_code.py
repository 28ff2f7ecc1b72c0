"""The torch module of a design written out as Python: lines chosen by the parts, and the numbers of the settings."""

from __future__ import annotations

from engine.encodings.designed.spec import DesignedSettings
from engine.encodings.designed.words import in_words

OUTPUTS = {"embedding": "config.d_model", "scores": "config.n_heads", "rotation": "config.head_width // 2"}
AUTO = {"embedding": "config.token_init_std", "scores": "config.d_model**-0.5", "rotation": "1.0"}

Lines = list[str]


def layer_code(parts: DesignedSettings) -> str:
    """The text of ``layer.py``."""
    tensor = {"table": "table", "sinusoids": "frequencies", "fourier": "frequencies"}.get(parts.design_features)
    body = [
        "class MyEncoding(PositionalEncoding):",
        f'    """{in_words(parts)}"""',
        "",
        *([f"    {tensor}: Tensor", ""] if tensor else []),
        "    def __init__(self, config: BaseConfig, own: MyEncodingSettings, *, max_positions: int, causal: bool) -> None:",
        "        super().__init__()",
        *indented(2, [*_features_made(parts), *_readout_made(parts), *_scaled(parts)]),
        "",
        *indented(1, _methods(parts)),
    ]
    used = "\n".join(body)
    helpers = ("bias_matrices", "index_of", "offsets", "row_matrices")
    base = [
        "PositionalEncoding",
        *(["PositionOutOfRange"] if "PositionOutOfRange(" in used else []),
        *(["Positions"] if "Positions" in used else []),
        *(name for name in helpers if f"{name}(" in used),
    ]
    modules = ("Dense", "DepthwiseConvolution", "at_least_single", "register_tensor", "root_mean_square")
    parts_used = [name for name in modules if f"{name}(" in used]
    functional = [name for name in ("embedding", "gelu") if f" {name}(" in used or f"({name}(" in used]
    head = ["import torch", "from torch import Tensor"]
    head += [f"from torch.nn.functional import {', '.join(functional)}"] if functional else []
    head += ["", f"from engine.encodings.layer import {', '.join(base)}"]
    head += [f"from engine.encodings.modules import {', '.join(parts_used)}"] if parts_used else []
    head += ["from engine.encodings.my_encoding.spec import MyEncodingSettings"]
    head += ["from engine.encodings.rotation import partners"] if "partners(" in used else []
    head += ["from engine.settings.base import BaseConfig"]
    return "\n".join(['"""My encoding: the torch module."""', "", *head, "", "", *body]) + "\n"


def indented(by: int, lines: Lines) -> Lines:
    """The lines, moved to the right by so many levels; empty lines stay empty."""
    return ["    " * by + line if line else "" for line in lines]


def _register(name: str, tensor: str, learned: bool) -> str:
    return f'register_tensor(self, "{name}", {tensor}, learned={learned})'


def _dense(name: str, inputs: str, outputs: str, learned: bool) -> str:
    return f"self.{name} = Dense({inputs}, {outputs}{'' if learned else ', learned=False'})"


def width_of(parts: DesignedSettings) -> str:
    """The number of features, as Python."""
    direct = parts.design_readout == "direct" or parts.reads_tokens
    return OUTPUTS[parts.design_place] if direct else str(parts.design_width)


def waves_of(parts: DesignedSettings) -> str:
    """The number of frequencies, as Python."""
    if parts.design_place == "rotation":
        return OUTPUTS["rotation"]
    return f"({width_of(parts)} + 1) // 2" if parts.design_readout == "direct" else str(-(-parts.design_width // 2))


def _scale(parts: DesignedSettings) -> str:
    return AUTO[parts.design_place] if parts.design_init_std is None else repr(parts.design_init_std)


def _features_made(parts: DesignedSettings) -> Lines:
    learned, width, scores = parts.learns_features, width_of(parts), parts.design_place == "scores"
    if parts.design_features == "table":
        rows = "2 * max_positions - 1" if scores else "max_positions"
        return [
            *(["self.last = max_positions - 1"] if scores else []),
            _register("table", f"torch.randn({rows}, {width})", learned),
        ]
    if parts.design_features == "network":
        hidden = str(parts.design_hidden)
        return [
            "self.trained = max_positions",
            _dense("first", "1", hidden, learned),
            _dense("second", hidden, width, learned),
        ]
    if parts.design_features == "convolution":
        reach, frozen = parts.design_reach, "" if learned else ", learned=False"
        return [
            f"self.reads_before = {reach}",
            f"self.mix = DepthwiseConvolution(config.d_model, {reach}, 0 if causal else {reach}{frozen})",
        ]
    waves = waves_of(parts)
    if parts.design_features == "sinusoids":
        made = [
            "waves = " + waves,
            _register("frequencies", f"{parts.design_base!r} ** -(torch.arange(waves) / waves)", learned),
        ]
    else:
        made = [_register("frequencies", f"torch.randn({waves}) / {parts.design_length_scale!r}", learned)]
    if parts.design_place != "rotation":
        made += [f"self.width = {width}"]
        made += [f"self.amplitude = 2**0.5 * {_scale(parts)}"] if parts.design_readout == "direct" else []
    return made


def _readout_made(parts: DesignedSettings) -> Lines:
    width, outputs, learned = width_of(parts), OUTPUTS[parts.design_place], parts.learns_readout
    if parts.design_readout == "linear":
        return [_dense("readout", width, outputs, learned)]
    if parts.design_readout == "network":
        hidden = str(parts.design_hidden)
        return [_dense("hidden", width, hidden, learned), _dense("readout", hidden, outputs, learned)]
    return []


def _scaled(parts: DesignedSettings) -> Lines:
    """Scaling the first values; the scale of waves is their known amplitude."""
    if parts.design_readout == "direct" and parts.design_features in ("sinusoids", "fourier"):
        return []
    seen = {
        "scores": "torch.arange(1 - max_positions, max_positions).float()",
        "embedding": "torch.arange(max_positions).float()",
        "rotation": "torch.arange(max_positions).float()",
    }[parts.design_place]
    if parts.design_features == "convolution":
        seen = "torch.randn(1, 64, config.d_model) * config.token_init_std"
    factor = f"{_scale(parts)} / root_mean_square(self.values(seen))"
    last = (
        "readout"
        if parts.design_readout != "direct"
        else {"network": "second", "convolution": "mix"}.get(parts.design_features)
    )
    return [f"seen = {seen}", f"self.{last}.scale({factor})" if last else f"self.table.data *= {factor}"]


def _methods(parts: DesignedSettings) -> Lines:
    read = {"direct": "{}", "linear": "self.readout({})", "network": "self.readout(gelu(self.hidden({})))"}[
        parts.design_readout
    ]
    features: Lines = []
    match parts.design_features:
        case "table" if parts.design_place == "scores":
            found = "embedding(at.clamp(-self.last, self.last).long() + self.last, self.table)"
        case "table":
            features = [
                "if at.max() >= len(self.table):",
                "    raise PositionOutOfRange(int(at.max()), len(self.table))",
            ]
            found = "embedding(at.long(), self.table)"
        case "network":
            found = "self.second(gelu(self.first(at[..., None] / self.trained)))"
        case "convolution":
            found = "self.mix(at)"
        case _ if parts.design_place == "rotation":
            found = "at[..., None] * self.frequencies"
        case _:
            features = ["phases = at[..., None] * self.frequencies"]
            found = "torch.cat([phases.cos(), phases.sin()], dim=-1)[..., : self.width]"
            found = f"self.amplitude * {found}" if parts.design_readout == "direct" else found
    features += [f"values: Tensor = {read.format(found)}", "return values"]
    return ["def values(self, at: Tensor) -> Tensor:", *indented(1, features), "", *_acts(parts)]


def _acts(parts: DesignedSettings) -> Lines:
    if parts.design_features == "convolution":
        return [
            "def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:",
            "    real = x if token_mask is None else x.masked_fill(~token_mask[..., None], 0.0)",
            "    return x + self.values(real).to(x.dtype)",
            "",
            "@torch.no_grad()",
            "def matrices(self, length: int) -> dict[str, Tensor]:",
            "    rows = self.values(torch.ones(1, length, len(self.mix.kernel)))[0]",
            '    return {"matrix": rows, "similarity": self.mix.overlap(length)}',
        ]
    if parts.design_place == "embedding":
        return [
            "def add_to_embedding(self, x: Tensor, positions: Positions, token_mask: Tensor | None = None) -> Tensor:",
            "    at = index_of(positions, x.device).to(at_least_single(x))",
            "    return x + self.values(at).to(x.dtype)",
            "",
            "def matrices(self, length: int) -> dict[str, Tensor]:",
            "    return row_matrices(self.values(torch.arange(length).float()))",
        ]
    if parts.design_place == "scores":
        return [
            "def score_bias(self, q: Tensor, k: Tensor, query_positions: Positions, key_positions: Positions) -> Tensor:",
            "    offset = offsets(query_positions, key_positions, q.device).to(at_least_single(q))",
            "    return self.values(offset).permute(2, 0, 1)[None].to(q.dtype)  # [1, head, query, key]",
            "",
            "def matrices(self, length: int) -> dict[str, Tensor]:",
            '    offset = offsets(range(length), range(length), torch.device("cpu")).float()',
            "    return bias_matrices(self.values(offset).permute(2, 0, 1))",
        ]
    return [
        "def rotate(self, t: Tensor, positions: Positions) -> Tensor:",
        "    turn = self.values(index_of(positions, t.device).to(at_least_single(t)))  # [position, d_head / 2]",
        "    cos = torch.cat([turn.cos(), turn.cos()], dim=-1).to(t.dtype)",
        "    sin = torch.cat([-turn.sin(), turn.sin()], dim=-1).to(t.dtype)",
        '    return t * cos + partners(t, "rotate_half") * sin',
        "",
        "@torch.no_grad()",
        "def matrices(self, length: int) -> dict[str, Tensor]:",
        "    turn = self.values(torch.arange(length).float())",
        '    return {"matrix": turn, "similarity": (turn[:, None] - turn[None, :]).cos().mean(-1)}',
    ]

"""A design written out as Python: the class that would give the same encoding, and its row in the registry. Torch-free.

Made of fixed lines chosen by the parts; nothing that a person typed goes into it but numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.encodings.design import decided_by
from engine.encodings.parameters import DesignedParameters

OUTPUTS = {"embedding": "config.d_model", "scores": "config.n_heads", "rotation": "config.head_width // 2"}
AUTO = {"embedding": "config.token_init_std", "scores": "config.d_model**-0.5", "rotation": "1.0"}
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

Lines = list[str]


@dataclass(frozen=True)
class Written:
    """What goes into which file."""

    module: str
    """``engine/encodings/my_encoding.py``."""
    row: str
    """``engine/encodings/rows/my_encoding.py``."""


def written(parts: DesignedParameters) -> Written:
    return Written(_module(parts), _row(parts))


def in_words(parts: DesignedParameters) -> str:
    """The design in a sentence."""
    readout = "readout.network" if parts.design_readout == "network" else parts.design_readout
    number = "offset" if parts.design_place == "scores" else "position"
    return IN_WORDS[parts.design_features].format(number=number) + IN_WORDS[readout] + IN_WORDS[parts.design_place]


def _module(parts: DesignedParameters) -> str:
    body = [
        "class MyEncoding(PositionalEncoding):",
        f'    """{in_words(parts)}"""',
        "",
        "    def __init__(self, config, *, max_positions, causal=None):",
        "        super().__init__()",
        *_indented(2, [*_features_made(parts), *_readout_made(parts), *_scaled(parts)]),
        "",
        *_indented(1, _methods(parts)),
    ]
    used = "\n".join(body)
    base = [
        "PositionalEncoding",
        *(name for name in ("NoRow", "bias_picture", "index_of", "offsets", "rows_picture") if f"{name}(" in used),
    ]
    dense = [name for name in ("Dense", "at_least_single", "root_mean_square") if f"{name}(" in used]
    functional = [name for name in ("embedding", "gelu") if f" {name}(" in used or f"({name}(" in used]
    head = ["import torch"]
    head += ["from torch import nn"] if "nn." in used else []
    head += [f"from torch.nn.functional import {', '.join(functional)}"] if functional else []
    head += ["", f"from engine.encodings.base import {', '.join(base)}"]
    head += ["from engine.encodings.conv import DepthwiseConvolution"] if "DepthwiseConvolution(" in used else []
    head += [f"from engine.encodings.dense import {', '.join(dense)}"] if dense else []
    head += ["from engine.encodings.rope import partners"] if "partners(" in used else []
    return "\n".join([*head, "", "", *body]) + "\n"


def _indented(by: int, lines: Lines) -> Lines:
    return ["    " * by + line if line else "" for line in lines]


def _learns(parts: DesignedParameters, what: str) -> bool:
    return parts.design_learned in ("everything", what)


def _held(name: str, tensor: str, learned: bool) -> str:
    return f"self.{name} = nn.Parameter({tensor})" if learned else f'self.register_buffer("{name}", {tensor})'


def _dense(name: str, inputs: str, outputs: str, learned: bool) -> str:
    return f"self.{name} = Dense({inputs}, {outputs}{'' if learned else ', learned=False'})"


def _width(parts: DesignedParameters) -> str:
    direct = parts.design_readout == "direct" or parts.design_features == "convolution"
    return OUTPUTS[parts.design_place] if direct else str(parts.design_width)


def _waves(parts: DesignedParameters) -> str:
    if parts.design_place == "rotation":
        return OUTPUTS["rotation"]
    return f"({_width(parts)} + 1) // 2" if parts.design_readout == "direct" else str(-(-parts.design_width // 2))


def _scale(parts: DesignedParameters) -> str:
    return AUTO[parts.design_place] if parts.design_init_std is None else repr(parts.design_init_std)


def _features_made(parts: DesignedParameters) -> Lines:
    learned, width, scores = _learns(parts, "features"), _width(parts), parts.design_place == "scores"
    if parts.design_features == "table":
        rows = "2 * max_positions - 1" if scores else "max_positions"
        return [
            *(["self.last = max_positions - 1"] if scores else []),
            _held("table", f"torch.randn({rows}, {width})", learned),
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
            "causal = config.causal if causal is None else causal",
            f"self.reads_before = {reach}",
            f"self.mix = DepthwiseConvolution(config.d_model, {reach}, 0 if causal else {reach}{frozen})",
        ]
    waves = _waves(parts)
    if parts.design_features == "sinusoids":
        made = [
            "waves = " + waves,
            _held("frequencies", f"{parts.design_base!r} ** -(torch.arange(waves) / waves)", learned),
        ]
    else:
        made = [_held("frequencies", f"torch.randn({waves}) / {parts.design_length_scale!r}", learned)]
    if parts.design_place != "rotation":
        made += [f"self.width = {width}"]
        made += [f"self.amplitude = 2**0.5 * {_scale(parts)}"] if parts.design_readout == "direct" else []
    return made


def _readout_made(parts: DesignedParameters) -> Lines:
    width, outputs, learned = _width(parts), OUTPUTS[parts.design_place], _learns(parts, "readout")
    if parts.design_readout == "linear":
        return [_dense("readout", width, outputs, learned)]
    if parts.design_readout == "network":
        hidden = str(parts.design_hidden)
        return [_dense("hidden", width, hidden, learned), _dense("readout", hidden, outputs, learned)]
    return []


def _scaled(parts: DesignedParameters) -> Lines:
    """The first values' size; a wave's is known."""
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


def _methods(parts: DesignedParameters) -> Lines:
    read = {"direct": "{}", "linear": "self.readout({})", "network": "self.readout(gelu(self.hidden({})))"}[
        parts.design_readout
    ]
    features: Lines = []
    match parts.design_features:
        case "table" if parts.design_place == "scores":
            found = "embedding(at.clamp(-self.last, self.last).long() + self.last, self.table)"
        case "table":
            features = ["if at.max() >= len(self.table):", "    raise NoRow(int(at.max()), len(self.table))"]
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
    values = ["def values(self, at):", *_indented(1, [*features, f"return {read.format(found)}"]), ""]
    return values + _acts(parts)


def _acts(parts: DesignedParameters) -> Lines:
    if parts.design_features == "convolution":
        return [
            "def add_to_embedding(self, x, positions, padding=None):",
            "    real = x if padding is None else x.masked_fill(~padding[..., None], 0.0)",
            "    return x + self.values(real).to(x.dtype)",
            "",
            "@torch.no_grad()",
            "def picture(self, length):",
            "    rows = self.values(torch.ones(1, length, len(self.mix.kernel)))[0]",
            '    return {"matrix": rows, "similarity": self.mix.overlap(length)}',
        ]
    if parts.design_place == "embedding":
        return [
            "def add_to_embedding(self, x, positions, padding=None):",
            "    at = index_of(positions, x.device).to(at_least_single(x))",
            "    return x + self.values(at).to(x.dtype)",
            "",
            "def picture(self, length):",
            "    return rows_picture(self.values(torch.arange(length).float()))",
        ]
    if parts.design_place == "scores":
        return [
            "def score_bias(self, q, k, query_positions, key_positions):",
            "    offset = offsets(query_positions, key_positions, q.device).to(at_least_single(q))",
            "    return self.values(offset).permute(2, 0, 1)[None].to(q.dtype)  # [1, head, query, key]",
            "",
            "def picture(self, length):",
            '    offset = offsets(range(length), range(length), torch.device("cpu")).float()',
            "    return bias_picture(self.values(offset).permute(2, 0, 1))",
        ]
    return [
        "def rotate(self, t, positions):",
        "    turn = self.values(index_of(positions, t.device).to(at_least_single(t)))  # [position, d_head / 2]",
        "    cos = torch.cat([turn.cos(), turn.cos()], dim=-1).to(t.dtype)",
        "    sin = torch.cat([-turn.sin(), turn.sin()], dim=-1).to(t.dtype)",
        '    return t * cos + partners(t, "rotate_half") * sin',
        "",
        "@torch.no_grad()",
        "def picture(self, length):",
        "    turn = self.values(torch.arange(length).float())",
        '    return {"matrix": turn, "similarity": (turn[:, None] - turn[None, :]).cos().mean(-1)}',
    ]


def _row(parts: DesignedParameters) -> str:
    decided, shapes = decided_by(parts), _shapes(parts)
    dense = ["from engine.encodings.shapes import dense"] if "dense(" in shapes else []
    return "\n".join([
        '"""My encoding: what is known of it without running it. Torch-free."""',
        "",
        "from engine.encodings.parameters import NoParameters",
        "from engine.encodings.row import EncodingRow",
        "from engine.encodings.saved import UNKNOWN",
        *dense,
        "",
        "",
        "def learns(config, rows, causal):",
        f"    return [{shapes}]",
        "",
        "",
        "ROW = EncodingRow(",
        '    name="my_encoding",',
        '    label="My encoding",',
        f'    acts_on="{parts.design_place}",',
        "    parameters=NoParameters,",
        '    equation=r"\\text{what it computes, in TeX}",',
        '    source="Where it comes from",',
        '    implementation="engine.encodings.my_encoding:MyEncoding",',
        '    color="#F9068C",',
        f"    relative={decided['relative']},",
        f"    numbered={decided['numbered']},",
        "    learns=learns,",
        "    saved=UNKNOWN,",
        ")",
        "",
    ])  # fmt: skip


def _shapes(parts: DesignedParameters) -> str:
    """Of what it learns."""
    width, outputs, hidden = _width(parts), OUTPUTS[parts.design_place], str(parts.design_hidden)
    if parts.design_features == "convolution":
        reach = parts.design_reach
        features = [f"({width}, {reach + 1} if causal else {2 * reach + 1})", f"({width},)"]
    elif parts.design_features == "table":
        rows = "2 * rows - 1" if parts.design_place == "scores" else "rows"
        features = [f"({rows}, {width})"]
    elif parts.design_features == "network":
        features = [f"*dense(1, {hidden})", f"*dense({hidden}, {width})"]
    else:
        features = [f"({_waves(parts)},)"]
    readout = {
        "direct": [],
        "linear": [f"*dense({width}, {outputs})"],
        "network": [f"*dense({width}, {hidden})", f"*dense({hidden}, {outputs})"],
    }[parts.design_readout]
    shapes = (features if _learns(parts, "features") else []) + (readout if _learns(parts, "readout") else [])
    return ", ".join(shapes)

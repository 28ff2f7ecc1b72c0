"""A design written out as Python: the two files of an encoding that gives the same numbers.

The text is made of fixed lines chosen by the parts; of a user's input it contains only numbers.
"""

import re
from pathlib import Path

from engine.encodings.designed import SPEC, DesignedSettings

# the text of both files with gaps to fill; and by place, the hook and the matrices to plot (`tokens`: of features made of the
# tokens)
TEMPLATES = Path(__file__).parent / "written"
# names by module: a layer imports those that it uses, in the order of sorted imports
IMPORTS = {
    "torch.nn.functional": "embedding gelu",
    "engine.encodings.base.layer": "PositionalEncoding Positions bias_matrices index_below index_of offsets row_matrices",
    "engine.encodings.base.modules": "Dense DepthwiseConvolution at_least_single register_tensor root_mean_square",
    "engine.encodings.base.rotation": "partners",
    "engine.encodings.my_encoding": "MyEncodingSettings",
    "engine.settings.base": "BaseConfig",
}
OUTPUTS = {"embedding": "config.d_model", "scores": "config.n_heads", "rotation": "config.head_width // 2"}
AUTO = {"embedding": "config.token_init_std", "scores": "config.d_model**-0.5", "rotation": "1.0"}
READ = {"direct": "{}", "linear": "self.readout({})", "network": "self.readout(gelu(self.hidden({})))"}

Lines = list[str]


def spec_code(parts: DesignedSettings) -> str:
    chosen = (f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in parts)
    ends, row = parts.ends_at_trained_length, parts.specialise(SPEC)
    return _template("spec").format(parts=",\n    ".join(chosen), ends=ends, init_std=parts.init_std, row=row)


def _template(name: str) -> str:
    return (TEMPLATES / f"{name}.txt").read_text("utf-8")


def layer_code(parts: DesignedSettings) -> str:
    tensor = {"table": "table", "sinusoids": "frequencies", "fourier": "frequencies"}.get(parts.design_features)
    acts = _template("tokens" if parts.reads_tokens else parts.design_place)
    if parts.ends_at_trained_length:
        acts = acts.replace("index_of(", "index_below(len(self.table), ")
    code = _template("layer").format(
        imports="{imports}",
        in_words=parts.in_words,
        tensor=f"\n    {tensor}: Tensor\n" if tensor else "",
        made=_indented(2, [*_features_made(parts), *_readout_made(parts), *_scaled(parts)]),
        values=_indented(2, _values(parts)),
        acts=_indented(1, acts.splitlines()),
    )
    imports: Lines = []
    for module, names in IMPORTS.items():
        used = [name for name in names.split() if re.search(rf"(?<![\w.]){name}[(),]", code)]
        gap = "\n" if module == "engine.encodings.base.layer" else ""
        imports += [f"{gap}from {module} import {', '.join(used)}"] if used else []
    return code.replace("{imports}", "\n".join(imports))


def _indented(by: int, lines: Lines) -> str:
    return "\n".join(["    " * by + line if line else "" for line in lines]).lstrip()


def _register(name: str, tensor: str, learned: bool) -> str:
    return f'register_tensor(self, "{name}", {tensor}, learned={learned})'


def _dense(name: str, inputs: str, outputs: str, learned: bool) -> str:
    return f"self.{name} = Dense({inputs}, {outputs}{'' if learned else ', learned=False'})"


def _width(parts: DesignedSettings) -> str:
    direct = parts.design_readout == "direct" or parts.reads_tokens
    return OUTPUTS[parts.design_place] if direct else str(parts.design_width)


def _waves(parts: DesignedSettings) -> str:
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
    direct = parts.design_readout == "direct"
    # the scale of waves is their known amplitude
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
    before: Lines = []
    match parts.design_features:
        case "table" if parts.design_place == "scores":
            formula = "embedding(at.clamp(-self.last, self.last).long() + self.last, self.table)"
        case "table":
            formula = "embedding(at.long(), self.table)"
        case "network":
            formula = "self.second(gelu(self.first(at[..., None] / self.trained)))"
        case "convolution":
            formula = "self.mix(at)"
        case _ if parts.design_place == "rotation":
            formula = "at[..., None] * self.frequencies"
        case _:
            before = ["phases = at[..., None] * self.frequencies"]
            amplitude = "self.amplitude * " if parts.design_readout == "direct" else ""
            formula = f"{amplitude}torch.cat([phases.cos(), phases.sin()], dim=-1)[..., : self.width]"
    return [*before, f"values: Tensor = {READ[parts.design_readout].format(formula)}", "return values"]

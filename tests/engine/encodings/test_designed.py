import importlib
import itertools
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, get_args, get_type_hints

import pytest
import torch
from torch import Tensor

import engine.encodings
from engine.config.run_config import RunConfig
from engine.encodings.base import EncodingSettings
from engine.encodings.base.layer import PositionalEncoding, PositionOutOfRange
from engine.encodings.designed import DesignedSettings
from engine.encodings.designed.code import layer_code, spec_code
from engine.encodings.designed.layer import Designed
from engine.settings.costs import StackShape
from engine.settings.errors import ConfigError
from tests.engine.tiny import LENGTH, given_to, shifted, tiny_config, tiny_encoding, tiny_model, tokens

TRAINED = 9
ROOT = Path(__file__).parents[3]
RUFF = (
    *(Path(sys.executable).parent / "ruff", "check", "--quiet", "--config", ROOT / "pyproject.toml"),
    *("--config", "lint.isort.known-first-party=['engine']"),  # the files' own folder is elsewhere
)
Settings = dict[str, Any]


def choices(name: str) -> tuple[str, ...]:
    return get_args(DesignedSettings.model_fields[name].annotation)


def designs() -> list[Settings]:
    """Every combination of features, read-out and place that the rules allow, each with one choice of learned parts."""
    found: list[Settings] = []
    learned = itertools.cycle(choices("design_learned"))
    axes = itertools.product(*(choices(f"design_{part}") for part in ("features", "readout", "place")))
    for features, readout, where in axes:
        settings = {"design_features": features, "design_readout": readout, "design_place": where}
        try:
            tiny_config(pos_encoding="designed", **settings)
        except ConfigError:
            continue
        found.append({**settings, "design_learned": next(learned), "design_width": 7})
    return found


def built(kind: Any, config: RunConfig, specific: EncodingSettings | None = None, seed: int = 0) -> PositionalEncoding:
    torch.manual_seed(seed)
    encoding: PositionalEncoding = kind(
        config, specific or config.encoding_settings, max_positions=TRAINED, causal=True
    )
    return encoding


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(engine.encodings, "__path__", [*engine.encodings.__path__, str(tmp_path)])
    made = tmp_path / "my_encoding"
    made.mkdir()
    yield made
    for name in [name for name in sys.modules if name.startswith("engine.encodings.my_encoding")]:
        del sys.modules[name]


def acted(encoding: PositionalEncoding) -> list[Tensor]:
    generator = torch.Generator().manual_seed(1)
    x, q, k = torch.randn(2, TRAINED, 16, generator=generator), *torch.randn(2, 2, 4, TRAINED, 4, generator=generator)
    positions = range(TRAINED)
    turned = encoding.rotate(q, positions), encoding.rotate_keys(k, positions)
    bias = encoding.score_bias(q, k, positions, positions)
    results = [encoding.add_to_embedding(x, positions), *turned, *(() if bias is None else (bias,))]
    return [*results, *encoding.matrices(TRAINED).values()]


@pytest.mark.parametrize("settings", designs(), ids=str)
def test_the_code_written_for_a_design_is_the_design(settings: Settings, folder: Path) -> None:
    """Run as a person would who pasted it: same initial weights under a seed, same numbers at every hook, same costs."""
    config = tiny_config(pos_encoding="designed", **settings)
    (folder / "__init__.py").write_text(spec_code(config.encoding_settings))
    (folder / "layer.py").write_text(layer_code(config.encoding_settings))
    subprocess.run([*RUFF, folder], check=True)
    importlib.invalidate_caches()
    spec, chosen = resolve_name("engine.encodings.my_encoding:SPEC"), config.encoding
    layer, specific = resolve_name(spec.layer), spec.settings()
    ours, theirs = built(Designed, config), built(layer, config, specific)
    for one, other in zip(ours.state_dict().values(), theirs.state_dict().values(), strict=True):
        torch.testing.assert_close(one, other, atol=0, rtol=0)
    assert [p.shape for p in ours.parameters()] == [p.shape for p in theirs.parameters()]
    assert ours.reads_before == theirs.reads_before
    for one, other in zip(acted(ours), acted(theirs), strict=True):
        torch.testing.assert_close(one, other)
    assert (
        specific.parameter_shapes(config, TRAINED, True)
        == config.encoding_settings.parameter_shapes(config, TRAINED, True)
        == [tuple(p.shape) for p in ours.parameters()]
    )
    for stack in (StackShape(config, TRAINED, causal=True), StackShape(config, TRAINED, causal=False)):
        assert specific.bytes_bound(stack) == config.encoding_settings.bytes_bound(stack)
    assert specific.init_std == config.encoding_settings.init_std
    facts = ("acts_on", "relative", "numbered", "shown_as")
    assert [getattr(spec, fact) for fact in facts] == [getattr(chosen, fact) for fact in facts]
    assert bool(spec.shown_as) == ours.reads_tokens, "what its picture leaves out is said"
    assert specific.ends_at_trained_length == config.encoding_settings.ends_at_trained_length
    assert get_type_hints(layer.__init__)["settings"] is spec.settings


@pytest.mark.parametrize("settings", designs()[::3], ids=str)
def test_a_whole_model_agrees_with_what_the_row_says(settings: Settings) -> None:
    """Fused and materialised, shifts, gradients; a table ends at its trained length."""
    flat = {"pos_encoding": "designed", **settings}
    fused, model = (tiny_model(**flat, family="encoder", attention_impl=impl) for impl in ("fused", "materialised"))
    given = given_to(model)
    here = model(**given)
    torch.testing.assert_close(fused(**given), here)
    alike = torch.allclose(here, model(**shifted(given, 30)), atol=1e-10)
    assert alike == model.config.encoding.relative
    here.square().mean().backward()
    assert all(p.grad is not None and p.grad.isfinite().all() for p in model.parameters())
    ends = settings["design_features"] == "table" and settings["design_place"] != "scores"
    short = tiny_model(**flat, max_positions=4)
    if ends:
        with pytest.raises(PositionOutOfRange):
            short(tokens(LENGTH))
    else:
        assert short(tokens(30)).isfinite().all()


@pytest.mark.parametrize("settings", designs(), ids=str)
def test_the_first_scale_is_the_asked_one(settings: Settings) -> None:
    if settings["design_place"] == "rotation" and settings["design_features"] in ("sinusoids", "fourier"):
        return  # phases have a speed, not a size
    config = tiny_config(pos_encoding="designed", design_init_std=0.4, d_model=64, **{**settings, "design_width": 64})
    encoding = built(Designed, config)
    design = config.encoding_settings.in_run(config, max_positions=TRAINED, causal=True)
    at = torch.arange(design.first_row, TRAINED).float()
    if encoding.reads_tokens:
        at = torch.randn(1, 2000, 64)
    values = encoding.features.phases(at) if encoding.place == "rotation" else encoding.values(at)
    exact = 0.02 if settings["design_features"] not in ("fourier", "sinusoids", "convolution") else 0.25
    assert values.square().mean().sqrt().item() == pytest.approx(0.4, rel=exact)


def test_known_encodings_are_designs() -> None:
    def designed(**settings: Any) -> PositionalEncoding:
        return built(Designed, tiny_config(pos_encoding="designed", design_readout="direct", **settings))

    x, q = torch.randn(2, TRAINED, 16), torch.randn(2, 4, TRAINED, 4)
    rope = tiny_encoding("rope", max_positions=TRAINED)
    waves = designed(design_features="sinusoids", design_place="rotation", design_learned="nothing")
    torch.testing.assert_close(waves.rotate(q, range(TRAINED)), rope.rotate(q, range(TRAINED)))
    sinusoids = designed(design_features="sinusoids", design_learned="nothing", design_init_std=0.5**0.5)
    torch.testing.assert_close(
        sinusoids.matrices(TRAINED)["similarity"],
        tiny_encoding("sinusoidal", max_positions=TRAINED).matrices(TRAINED)["similarity"],
    )
    table, learned = designed(design_features="table"), tiny_encoding("learned", max_positions=TRAINED)
    learned.table.data.copy_(table.state_dict()["features.table"])
    torch.testing.assert_close(table.add_to_embedding(x, range(TRAINED)), learned.add_to_embedding(x, range(TRAINED)))


def test_what_is_not_learned_is_saved_but_not_trained() -> None:
    model = tiny_model(pos_encoding="designed", design_learned="readout")
    names = {name for name, _ in model.named_parameters() if "encodings" in name}
    assert names == {"stack.encodings.0.readout.weight", "stack.encodings.0.readout.bias"}
    assert "stack.encodings.0.features.frequencies" in model.state_dict()

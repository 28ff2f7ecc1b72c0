import itertools
import json
import re
import resource
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_model

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.layout import Shapes, shapes
from engine.estimate.memory import count_parameters, predict_memory
from engine.estimate.prediction import predict
from engine.foundation.provenance import provenance
from engine.model.build import ORIGIN, build_model, parameter_part, save_weights, trained_model
from engine.settings.architectures import ARCHITECTURES
from engine.training.optimizers import build_optimizers
from engine.training.train import prepare
from tests.engine.estimate.test_memory import assert_predicted
from tests.engine.tiny import given_to, tiny_config, tiny_model, tokens
from tests.tables import tables_beside

CASES = tables_beside(__file__)

FAMILIES = ["decoder", "encoder", "encoder_decoder"]
BASELINES = [name for name, row in ARCHITECTURES.items() if not row.attends]
KINDS = [*({"pos_encoding": name} for name in ENCODINGS), *({"family": name} for name in BASELINES)]


@pytest.mark.parametrize("settings", KINDS, ids=str)
def test_the_seed_alone_decides_the_weights(settings: dict[str, str]) -> None:
    torch.manual_seed(1)
    before = torch.get_rng_state()
    one = tiny_model(**settings, seed=5).state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    torch.manual_seed(2)
    two, other = (tiny_model(**settings, seed=seed).state_dict() for seed in (5, 6))
    assert all(torch.equal(one[key], two[key]) for key in one)
    assert not torch.equal(one["head.weight"], other["head.weight"])
    assert not all(torch.equal(one[key], other[key]) for key in one if key.startswith(("stack.blocks.0", "body")))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("name", ENCODINGS)
def test_weights_can_be_saved_and_loaded(name: str, family: str) -> None:
    trained, fresh = (tiny_model(pos_encoding=name, family=family, seed=seed) for seed in (1, 2))
    given = given_to(trained)
    assert not torch.allclose(trained(**given), fresh(**given))
    fresh.load_state_dict(trained.state_dict())
    assert torch.equal(trained(**given), fresh(**given))
    drawn = set(trained.state_dict()) - {name for name, _ in trained.named_parameters()}
    assert all(".encodings." in name for name in drawn), "only an encoding keeps what it drew and does not learn"


@pytest.mark.parametrize(("std", "dtype"), [(0.0, "float32"), (0.02, "bfloat16"), (1.0, "float16")])
def test_precision_token_scale_and_head_width_are_the_configs(std: float, dtype: str) -> None:
    config = tiny_config(token_init_std=std, d_model=64, dtype=dtype, d_head=6, n_heads=3)
    model = build_model(config, n_tokens=500, n_outputs=5, max_positions=4)
    assert {parameter.dtype for parameter in model.parameters()} == {getattr(torch, dtype)}
    assert model.embedding.weight.float().std().item() == pytest.approx(std, rel=0.03)
    assert model.embedding.weight.float().mean().item() == pytest.approx(0, abs=0.03 * std)
    attention = model.stack.blocks[0].attention
    assert (attention.q.weight.shape, attention.out.weight.shape) == ((18, 64), (64, 18))


@pytest.mark.parametrize(("name", "part"), CASES["parts"])
def test_parts_by_name(name: str, part: str) -> None:
    assert parameter_part(name) == part


@pytest.mark.parametrize(
    ("name", "family"), [*itertools.product(ENCODINGS, FAMILIES), *(("nope", family) for family in BASELINES)]
)
def test_every_parameter_has_a_part_and_gets_gradient(name: str, family: str) -> None:
    additive = {"attention_score": "additive", "attention_impl": "materialised"} if family in FAMILIES else {}
    model = tiny_model(pos_encoding=name, family=family, max_positions=10, qk_norm=True, **additive)
    parts = r"e?\d+\.((cross_)?[qkv]|(cross_)?out|mlp|norm)|embedding|encoding|head"
    allowed = re.compile(parts if family in FAMILIES else r"[01]\.(weights|norm)|embedding|head")
    given_to_it = given_to(model) if family in FAMILIES else {"inputs": tokens()}
    model(**given_to_it).square().sum().backward()
    for parameter_name, parameter in model.named_parameters():
        assert allowed.fullmatch(parameter_part(parameter_name)), parameter_name
        assert parameter.grad is not None, parameter_name


def test_longer_inputs_than_trained_need_no_table() -> None:
    for name in ENCODINGS:
        if name != "learned":
            assert tiny_model(pos_encoding=name, max_positions=4)(tokens(30)).shape[1] == 30


def tied(**settings: object) -> RunConfig:
    return parse({"tie_embeddings": True, "token_init_std": 0.1, "d_model": 16, **settings})


@pytest.mark.parametrize("family", ["decoder", "gru", "cnn"])
def test_a_tied_head_is_the_embedding_and_is_counted_once(family: str) -> None:
    config = tied(family=family)
    model = build_model(config, **shapes(config).of_model)
    assert model.head.weight is model.embedding.weight
    assert model.embedding.weight.std().item() == pytest.approx(0.1, rel=0.3), "the config's, not as a head begins"
    counted = sum(count_parameters(config, shapes(config)).values())
    assert counted == sum(p.numel() for p in model.parameters())
    stepped = [p for o in build_optimizers(config, model) for group in o.param_groups for p in group["params"]]
    assert sum(p is model.embedding.weight for p in stepped) == 1


def test_tied_and_not_first_weights_are_alike_and_their_cost_is_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    config = parse({"d_model": 16})
    a, b = (build_model(c, **shapes(c).of_model) for c in (config, config.replace(tie_embeddings=True)))
    same = dict(a.named_parameters())
    assert all(torch.equal(same[name], value) for name, value in b.named_parameters())
    assert set(same) - {name for name, _ in b.named_parameters()} == {"head.weight"}

    config = tied(batch_size=4, seq_len=9, n_heads=2)
    sizes = Shapes(n_tokens=10, n_outputs=10, length=9, source_length=None, position_range=30)
    free = predict_memory(config.replace(tie_embeddings=False), sizes)
    bound = predict_memory(config, sizes)
    assert free.parameters - bound.parameters == 4 * 10 * 16
    assert (free.saved, free.scores) == (bound.saved, bound.scores)
    assert predict(config).flops_per_step == predict(config.replace(tie_embeddings=False)).flops_per_step
    monkeypatch.setattr("tests.engine.estimate.test_memory.SIZES", replace(sizes, n_tokens=11, n_outputs=11))
    for impl in ("fused", "materialised"):
        assert_predicted(config.replace(vocab_size=11, attention_impl=impl))


def test_tied_weights_come_back_tied(tmp_path: Path) -> None:
    config = tied()
    model = build_model(config, **shapes(config).of_model)
    with torch.no_grad():
        model.embedding.weight.mul_(3)
    save_weights(model, tmp_path / "w.safetensors")
    again = trained_model(config, tmp_path / "w.safetensors")
    assert again.head.weight is again.embedding.weight
    assert again.embedding.weight.equal(model.embedding.weight)
    load_model(model, str(tmp_path / "w.safetensors"))


def test_weights_that_are_damaged_or_of_another_model_are_named(tmp_path: Path) -> None:
    save_weights(prepare(RunConfig(n_layers=1)), file := tmp_path / "w.safetensors")
    with pytest.raises(ValueError, match="damaged, or of another model: "):
        trained_model(RunConfig(n_layers=2), file)
    file.write_bytes(b"no weights")
    with pytest.raises(ValueError, match="damaged, or of another model: "):
        trained_model(RunConfig(n_layers=1), file)
    with pytest.raises(ValueError, match="left no weights"):
        trained_model(RunConfig(n_layers=1), tmp_path / "none")


def test_a_file_of_weights_says_its_config_and_its_origin_and_equal_weights_are_equal_files(tmp_path: Path) -> None:
    config, now = RunConfig(n_layers=1, seed=3), provenance()
    files = [tmp_path / name for name in ("one.safetensors", "two.safetensors")]
    for file in files:
        save_weights(prepare(config), file)
    assert files[0].read_bytes() == files[1].read_bytes()
    with safe_open(files[0], "pt") as stored:
        origin = json.loads(stored.metadata()[ORIGIN])
    assert parse(origin.pop("config")) == config
    assert origin == {name: now[name] for name in ("version", "commit", "code", "torch")}  # type: ignore[literal-required]


def test_weights_for_which_the_disk_has_no_room_are_an_error_of_the_disk(tmp_path: Path) -> None:
    model, before = prepare(RunConfig()), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
    try:
        with pytest.raises(OSError, match=r"(?i)file too large"):
            save_weights(model, tmp_path / "weights.safetensors")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not list(tmp_path.iterdir())

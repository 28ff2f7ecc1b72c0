from typing import Any

import pytest
import torch

from engine.config.run_config import RunConfig, parse
from engine.encodings import ENCODINGS
from engine.estimate.layout import TESTED, generation_size, shapes, validation_size
from engine.estimate.peak import step_bytes
from engine.estimate.pieces import PIECE_BYTES, PIECE_FLOPS, forward_flops, pass_bytes, pieces, rows_at_once, writes_out
from engine.estimate.prediction import predict
from engine.experiments.issues import ISSUES
from engine.training.evaluation import evaluate
from engine.training.measured_memory import measure_memory, peak_bytes
from engine.training.train import begin
from tests.tables import tables_beside

CASES = tables_beside(__file__)

ROWS = 32
SIZES = {"task": "k_back", "seq_len": 48, "batch_size": 8, "d_model": 32, "n_heads": 4, "n_layers": 2, "device": "cpu"}
OTHERS: dict[str, dict[str, Any]] = CASES["others"]


def assert_bounded(config: RunConfig) -> None:
    state = begin(config)
    step = measure_memory(state.model, state.upcoming(1)[0], [])
    batch = state.data.validation_batch(size=ROWS)
    real = {
        "step": (step.peak or 0) - step.parameters - step.gradients,
        "pass": peak_bytes(lambda: evaluate(state.model, batch), torch.device("cpu")),
    }
    bounds = {
        "step": step_bytes(config, shapes(config), predict(config).memory),
        "pass": pass_bytes(config, shapes(config), ROWS, written_out=writes_out(config)),
    }
    for name, most in (("step", 6), ("pass", 3.1)):
        assert bounds[name] / most < real[name] <= bounds[name], (name, config.flat())


@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize(
    "parts",
    [
        ("convolution", "network", "embedding", "readout"),
        ("table", "network", "scores", "everything"),
        ("sinusoids", "direct", "scores", "nothing"),
        ("fourier", "linear", "scores", "features"),
        ("network", "network", "scores", "readout"),
    ],
    ids="-".join,
)
def test_designs_stay_within_their_bounds(parts: tuple[str, ...], impl: str) -> None:
    names = ("design_features", "design_readout", "design_place", "design_learned")
    design = dict(zip(names, parts, strict=True))
    assert_bounded(parse({**SIZES, "pos_encoding": "designed", "attention_impl": impl, **design}))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16_mixed"])
@pytest.mark.parametrize("impl", ["fused", "materialised"])
@pytest.mark.parametrize("name", ENCODINGS)
def test_every_encoding_stays_within_its_bounds(name: str, impl: str, dtype: str) -> None:
    assert_bounded(parse({**SIZES, "pos_encoding": name, "attention_impl": impl, "dtype": dtype}))


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("name", OTHERS)
def test_everything_else_stays_within_its_bounds(name: str, mixed: bool) -> None:
    assert_bounded(parse({**SIZES, **OTHERS[name], **({"dtype": "bfloat16_mixed"} if mixed else {})}))


def passes(config: RunConfig) -> list[tuple[int, int]]:
    """The lengths and the numbers of sequences of a run's passes without gradient."""
    n = config.seq_len
    return [(n, validation_size(n)), (n, generation_size(n)), *((length, TESTED) for length in config.test_lengths)]


@pytest.mark.parametrize("slug", ISSUES)
def test_what_documented_experiments_compare_of_trained_models_stays_whole(slug: str) -> None:
    for arm in ISSUES[slug].arms:
        config = ISSUES[slug].config(arm)
        for n, rows in passes(config):
            assert rows_at_once(config, n, rows) == rows, (arm.name, n)


@pytest.mark.parametrize(
    "flat",
    CASES["cut"],
    ids=["length", "heads", "cnn", "matrices", "width", "logits"],
)
def test_a_long_pass_and_one_over_large_tensors_is_cut(flat: dict[str, Any]) -> None:
    config = parse({"task": "k_back", **flat})
    rows, written_out = max(TESTED, validation_size(config.seq_len)), writes_out(config)
    at_once = rows_at_once(config, config.seq_len, rows)

    def share(n: int) -> float:
        bytes_ = pass_bytes(config, shapes(config), n, written_out=written_out)
        return max(n * forward_flops(config, shapes(config)) / PIECE_FLOPS, bytes_ / PIECE_BYTES)

    assert 1 <= at_once < rows
    assert share(at_once) <= 1 < share(rows)


def test_the_size_of_the_training_batch_changes_no_piece() -> None:
    small, large = (parse({"task": "k_back", "seq_len": 400, "d_model": 64, "batch_size": size}) for size in (1, 64))
    assert rows_at_once(small, 400, TESTED) == rows_at_once(large, 400, TESTED)


@pytest.mark.parametrize(("rows", "at_once"), [(10, 3), (9, 3), (1, 5), (4, 4)])
def test_pieces_cover_each_row_once(rows: int, at_once: int) -> None:
    found = [row for piece in pieces(rows, at_once) for row in range(rows)[piece]]
    assert found == list(range(rows))
    assert all(piece.stop - piece.start <= at_once for piece in pieces(rows, at_once))

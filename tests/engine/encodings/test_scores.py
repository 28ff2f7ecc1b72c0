import math

import pytest
import torch
from torch import Tensor, nn

from engine.encodings.alibi.layer import slopes
from engine.encodings.base.layer import PositionalEncoding
from engine.encodings.cope.layer import Cope
from engine.encodings.fire.layer import Fire
from engine.encodings.kerple.layer import Kerple
from engine.encodings.t5_bias.layer import bucket
from engine.model.activations import ActivationCache
from tests.engine.tiny import tiny_encoding, tiny_model, tokens

BATCH, HEADS, LENGTH, WIDTH = 2, 4, 9, 4


def bias_of(encoding: PositionalEncoding, length: int) -> Tensor:
    """The bias added to the scores if queries and keys do not matter, [head, query, key]."""
    q = torch.zeros(1, 4, length, 4)
    return encoding.score_bias(q, q, range(length), range(length))[0].detach()


@pytest.mark.parametrize("name", ["alibi", "t5_bias", "kerple", "fire"])
def test_the_picture_is_the_bias(name: str) -> None:
    encoding = tiny_encoding(name, max_positions=LENGTH)
    matrices = encoding.matrices(LENGTH)
    torch.testing.assert_close(matrices["matrix"], bias_of(encoding, LENGTH))
    torch.testing.assert_close(matrices["similarity"], matrices["matrix"].mean(0))


def test_alibi_agrees_with_x_transformers_also_where_the_heads_are_no_power_of_two() -> None:
    from x_transformers.x_transformers import AlibiPositionalBias

    for heads in range(1, 65):
        assert slopes(heads) == pytest.approx(AlibiPositionalBias(heads).slopes.flatten().tolist()), heads
    assert slopes(3) == (2**-4, 2**-8, 2**-2)
    encoding = tiny_encoding("alibi", max_positions=20, n_heads=6, d_head=4, alibi_slope_scale=2.0)
    torch.testing.assert_close(bias_of(encoding, 20), 2 * AlibiPositionalBias(6)(20, 20))


OFFSETS = torch.arange(-45_000, 45_000)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize(("buckets", "max_distance"), [(32, 128), (16, 64), (33, 100), (4, 33), (64, 33), (64, 4096)])
def test_no_bucket_differs_from_transformers(causal: bool, buckets: int, max_distance: int) -> None:
    from transformers.models.t5.modeling_t5 import T5Attention

    ours = bucket(OFFSETS, buckets=buckets, max_distance=max_distance, causal=causal)
    theirs = T5Attention._relative_position_bucket(  # noqa: SLF001 - the library has no public name for it
        OFFSETS, bidirectional=not causal, num_buckets=buckets, max_distance=max_distance
    )
    assert (ours != theirs).sum() == 0
    assert ours.min() >= 0
    assert ours.max() < buckets


@pytest.mark.parametrize("causal", [True, False])
def test_t5_agrees_with_x_transformers(causal: bool) -> None:
    from x_transformers.x_transformers import RelativePositionBias

    encoding = tiny_encoding("t5_bias", max_positions=40, causal=causal)
    theirs = RelativePositionBias(1.0, causal=causal, heads=4)
    theirs.relative_attention_bias.weight.data.copy_(encoding.biases)
    torch.testing.assert_close(bias_of(encoding, 40), theirs(40, 40).detach())


def kerple(kernel: str) -> Kerple:
    return tiny_encoding("kerple", max_positions=LENGTH, kerple_kernel=kernel)


def kernel_at(kernel: str, r_1: float, r_2: float, distance: int) -> float:
    return -r_1 * math.log(1 + r_2 * distance) if kernel == "log" else -r_1 * distance**r_2


@pytest.mark.parametrize("kernel", ["log", "power"])
def test_agrees_with_the_equations_and_with_the_authors_first_values(kernel: str) -> None:
    encoding = kerple(kernel)
    bias = bias_of(encoding, LENGTH)
    ones, twos = (r.flatten().tolist() for r in encoding.r())
    for h, (r_1, r_2) in enumerate(zip(ones, twos, strict=True)):
        expected = [[kernel_at(kernel, r_1, r_2, abs(i - j)) for j in range(LENGTH)] for i in range(LENGTH)]
        torch.testing.assert_close(bias[h], torch.tensor(expected))

    r_1, r_2 = tiny_encoding("kerple", max_positions=4, kerple_kernel=kernel, n_heads=64, d_head=1).r()
    most = (2.0, 1.0) if kernel == "log" else (1.0, 2.0)
    for r, top in zip((r_1, r_2), most, strict=True):
        assert r.min() >= 0.0099
        assert top * 0.8 < r.max() <= top + 1e-6


@pytest.mark.parametrize("kernel", ["log", "power"])
def test_the_kernel_is_conditionally_positive_definite(kernel: str) -> None:
    """sum c_i c_j k(i, j) >= 0 wherever sum c_i = 0: what Chi et al. ask of a kernel, whatever its learned numbers."""
    encoding = kerple(kernel)
    with torch.no_grad():
        encoding.raw_1.copy_(torch.tensor([-9.0, 0.0, 3.0, 9.0]))
        encoding.raw_2.copy_(torch.tensor([-9.0, 0.0, 9.0, 3.0]))
    matrix = encoding.bias(range(LENGTH), range(LENGTH)).double()
    centre = torch.eye(LENGTH).double() - 1 / LENGTH
    eigenvalues = torch.linalg.eigvalsh(centre @ matrix @ centre)
    assert (eigenvalues >= -1e-4 * matrix.abs().amax((1, 2))[:, None]).all()


def test_no_gradient_is_lost_at_distance_zero() -> None:
    encoding = kerple("power")
    encoding.bias(range(LENGTH), range(LENGTH)).square().sum().backward()
    assert encoding.raw_2.grad.isfinite().all()
    assert (encoding.raw_2.grad != 0).all()


def published_fire(encoding: Fire, length: int) -> Tensor:
    """The appendix's ``forward``, literally, with our weights; [head, query, key]."""
    mlp = nn.Sequential(nn.Linear(1, 32), nn.ReLU(), nn.Linear(32, 4))
    mlp[0].load_state_dict(encoding.hidden.state_dict())
    mlp[2].load_state_dict(encoding.out.state_dict())
    positions = torch.arange(length, dtype=torch.float)
    rel_distance = positions[:, None] - positions[None, :]
    threshold = torch.abs(encoding.threshold_factor * encoding.threshold)
    pos_normalizer = torch.max(positions, threshold)[:, None]
    rel_distance = torch.log(torch.abs(encoding.c * rel_distance) + 1)
    pos_normalizer = torch.log(torch.abs(encoding.c * pos_normalizer) + 1) + 1e-6
    return mlp((rel_distance / pos_normalizer).unsqueeze(-1)).permute(2, 0, 1)


@pytest.mark.parametrize("threshold", [None, 3.0, 100.0])
def test_agrees_with_the_paper_where_a_causal_stack_looks(threshold: float | None) -> None:
    encoding = tiny_encoding("fire", max_positions=LENGTH, fire_threshold=threshold)
    visible = torch.ones(LENGTH, LENGTH).tril().bool()
    torch.testing.assert_close(bias_of(encoding, LENGTH)[:, visible], published_fire(encoding, LENGTH)[:, visible])


def test_distances_stay_within_one_and_up_to_the_threshold_a_shift_changes_nothing() -> None:
    encoding = tiny_encoding("fire", max_positions=16)
    distances = encoding.distances(range(500), range(500))
    assert distances.abs().max() <= 1.0
    assert distances[499, 0].item() == pytest.approx(1.0, abs=1e-4)
    torch.testing.assert_close(distances, -distances.T)  # looking both ways, directions are told apart

    encoding = tiny_encoding("fire", max_positions=16, fire_threshold=30.0)
    here, there, beyond = (encoding.bias(range(first, first + 8), range(first, first + 8)) for first in (0, 20, 60))
    torch.testing.assert_close(here, there)
    assert not torch.allclose(here, beyond)


def attended(q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor | None, furthest: int) -> Tensor:
    """Equations 3 to 5, entry by entry; q, k, v [batch, head, length, d_head], as is the result."""
    z = torch.zeros_like(q)
    for b in range(BATCH):
        for h in range(HEADS):
            for i in range(LENGTH):
                rows = [max(-furthest, min(j - i, furthest)) + furthest for j in range(LENGTH)]
                e = [q[b, h, i] @ (k[b, h, j] + keys[rows[j]]) / math.sqrt(WIDTH) for j in range(LENGTH)]
                alpha = torch.stack(e).softmax(0)
                for j in range(LENGTH):
                    z[b, h, i] += alpha[j] * (v[b, h, j] + (0 if values is None else values[rows[j]]))
    return z


@pytest.mark.parametrize("furthest", [1, 3, 20])
@pytest.mark.parametrize("with_values", [True, False])
def test_attention_with_shaws_vectors_agrees_with_the_equations(furthest: int, with_values: bool) -> None:
    settings = {"pos_encoding": "shaw", "shaw_max_distance": furthest, "shaw_values": with_values}
    model = tiny_model(**settings, family="encoder", task="k_back", n_layers=1)
    cache: ActivationCache = {}
    model(tokens(LENGTH, batch=BATCH), cache=cache)
    encoding, name = model.encoding, "encoder.0.self"
    values = encoding.relative_values if with_values else None
    mixed = attended(*(cache[f"{name}.{part}"] for part in "qkv"), encoding.relative_keys, values, furthest)
    expected = model.stack.blocks[0].attention.out(mixed.transpose(1, 2).flatten(2))
    torch.testing.assert_close(cache[f"{name}.out"], expected)


def test_every_layer_owns_its_vectors_and_the_picture_compares_each_offset_with_none() -> None:
    model = tiny_model(pos_encoding="shaw", n_layers=3)
    assert len(model.stack.encodings) == 3
    assert len(tiny_model(pos_encoding="t5_bias", n_layers=3).stack.encodings) == 1

    encoding = tiny_encoding("shaw", max_positions=LENGTH, shaw_max_distance=3)
    matrices = encoding.matrices(LENGTH)
    assert matrices["matrix"].shape == (7, WIDTH)
    keys = encoding.relative_keys.detach()
    expected = torch.cosine_similarity(keys[3], keys[5], dim=0)  # offset 0 with offset 2
    torch.testing.assert_close(matrices["similarity"].diagonal(2), expected.expand(LENGTH - 2))
    torch.testing.assert_close(matrices["similarity"].diagonal(), torch.ones(LENGTH))


def cope(causal: bool, **settings: object) -> Cope:
    encoding = tiny_encoding("cope", max_positions=LENGTH, causal=causal, **settings).double()
    torch.nn.init.normal_(encoding.vectors)
    return encoding


def q_and_k() -> tuple[Tensor, Tensor]:
    q, k = torch.randn(2, 2, HEADS, LENGTH, WIDTH, dtype=torch.float64)
    return q, k


def counted(encoding: Cope, q: Tensor, k: Tensor, i: int, j: int) -> Tensor:
    """q . e[p] for one query and key, with e[p] interpolated; q [d_head], k [key, d_head]."""
    between = range(j, i + 1) if j <= i else range(i, j + 1)
    p = sum(1 / (1 + math.exp(-float(q @ k[t]))) for t in between)
    p = min(p, encoding.vectors.shape[1] - 1)
    vectors = encoding.vectors[0 if j <= i else 1]
    low, high = vectors[math.floor(p)], vectors[math.ceil(p)]
    return q @ ((p - math.floor(p)) * high + (1 - (p - math.floor(p))) * low)


@pytest.mark.parametrize("counts", [3, 64])
@pytest.mark.parametrize("causal", [True, False])
def test_cope_agrees_with_the_equations(causal: bool, counts: int) -> None:
    encoding, (q, k) = cope(causal, cope_counts=counts), q_and_k()
    bias = encoding.score_bias(q, k, range(LENGTH), range(LENGTH))
    for i in range(LENGTH):
        for j in range(i + 1 if causal else LENGTH):
            expected = counted(encoding, q[1, 2, i], k[1, 2], i, j)
            torch.testing.assert_close(bias[1, 2, i, j], expected)


@pytest.mark.parametrize("causal", [True, False])
def test_picture_is_one_on_the_diagonal(causal: bool) -> None:
    matrices = cope(causal).matrices(LENGTH)
    assert matrices["matrix"].shape == (64 * (1 if causal else 2), WIDTH)
    torch.testing.assert_close(matrices["similarity"].diagonal(), torch.ones(LENGTH))


def test_what_is_not_finite_comes_out_so_and_is_no_index() -> None:
    q, k = q_and_k()
    q[0, 0, 3] = math.nan
    bias = cope(causal=True).score_bias(q, k, range(LENGTH), range(LENGTH))
    assert bias[0, 0, 3, :4].isnan().all()
    assert bias[1].isfinite().all()

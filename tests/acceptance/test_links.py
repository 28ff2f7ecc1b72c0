"""The links that the page names, on fifty trained models: each costs at least a tenth of the right answers when hooks ablate it,
and not the code that chose it; of a learned hop both heads are named.

Measured: 47 of the 50 name a link (hops 20 of 20, reverse 8 of 10, copy 10, sort 9); the least of the 99 links costs .106. Of the
twenty models of one hop nineteen name both heads; in the other one four heads of layer 2 do it together.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.analysis.attention.jobs import FollowAnswers
from engine.analysis.attention.model import attention_at, held_out, model_of
from engine.analysis.attention.parts import Part, parts_of
from engine.analysis.attention.path import Path as AnswerPath
from engine.analysis.attention.path import links_in
from engine.analysis.attention.requests import ModelRequest
from engine.analysis.measurements.head_pruning import attentions, gated
from engine.config.run_config import RunConfig, parse
from engine.model.build import save_weights
from engine.training.evaluation import forward
from engine.training.train import prepare, train

pytestmark = pytest.mark.acceptance

SETTINGS = {
    "hops": {"pos_encoding": "rope", "seq_len": 32, "learning_rate": 0.004, "schedule": "cosine", "steps": 300, "warmup_steps": 50},
    "reverse": {"seq_len": 6, "steps": 200},
    "copy": {"seq_len": 6, "steps": 200},
    "sort": {"seq_len": 8, "pos_encoding": "rope", "steps": 400},
}  # fmt: skip
# Layers and heads, and the number of seeds of each. None of these seeds chose a number of the code.
SHAPES = {
    "hops": [((2, 1), 4), ((3, 1), 4), ((2, 2), 4), ((3, 2), 4), ((2, 4), 4)],
    "reverse": [((2, 1), 2), ((4, 1), 2), ((2, 2), 2), ((2, 4), 2), ((4, 4), 2)],
    "copy": [((2, 1), 2), ((4, 1), 2), ((2, 2), 2), ((2, 4), 2), ((4, 4), 2)],
    "sort": [((2, 1), 2), ((4, 1), 2), ((2, 2), 2), ((2, 4), 2), ((4, 4), 2)],
}
MODELS: list[dict[str, object]] = [
    {"task": task, **SETTINGS[task], "n_layers": layers, "n_heads": heads, "seed": 2600 + copy, "device": "cpu"}
    for task, shapes in SHAPES.items()
    for (layers, heads), copies in shapes
    for copy in range(copies)
]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    # as in a worker: the same numbers
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[ModelRequest, list[AnswerPath]]]:
    folder = tmp_path_factory.mktemp("models")
    return [trained(parse(settings), folder / f"{part}.safetensors") for part, settings in enumerate(MODELS)]


def trained(config: RunConfig, file: Path) -> tuple[ModelRequest, list[AnswerPath]]:
    model = prepare(config)
    for _ in train(config, model):
        pass
    save_weights(model, file)
    request = ModelRequest(config, str(file))
    return request, [path for path in FollowAnswers(request, "").do()[0] if path]


def links_named(request: ModelRequest, path: AnswerPath) -> Iterator[list[Part]]:
    """The parts of each link that the sentence names: heads that do the same are one link."""
    mlps = [part for name, part in parts_of(request.config).items() if part.kind == "mlp" and name in names_in(path)]
    yield from ([part] for part in mlps)
    if path.contributor == "several":
        together = [reading.part for reading in path.readings]
        yield from [together] if together else []
    else:
        for link in links_in(path.readings):
            yield [reading.part for reading in link]


def names_in(path: AnswerPath) -> set[str]:
    return {piece.part for piece in path.links if piece.part}


@torch.no_grad()
def cost(request: ModelRequest, *parts: Part) -> float:
    """The share of the right answers, of the first sequence and a hundred others, that are lost if hooks set the outputs of the
    parts to zero."""
    model, batch = model_of(request), held_out(request.config.replace(device="cpu")).rows(slice(101))
    region = next(iter(batch.regions.values()))
    whole = (forward(model, batch).argmax(-1) == batch.targets)[:, region]
    gates = torch.ones(len(attentions(model)), request.config.n_heads)
    with ExitStack() as hooks:
        for part in parts:
            if part.kind == "head":
                gates[attentions(model).index(attention_at(model, part)), part.head] = 0.0
            else:
                mlp: Any = model.stack.blocks[part.layer].mlp
                hooks.callback(mlp.register_forward_hook(lambda module, given, out: torch.zeros_like(out)).remove)
        hooks.enter_context(gated(model, gates))
        still = (forward(model, batch).argmax(-1) == batch.targets)[:, region]
    return float((whole & ~still).sum() / whole.sum())


def test_each_named_link_costs_a_tenth_of_the_right_answers(
    models: list[tuple[ModelRequest, list[AnswerPath]]],
) -> None:
    assert len(models) == 50
    naming = 0
    for request, paths in models:
        links = {tuple(link) for path in paths for link in links_named(request, path)}
        naming += bool(links)
        costs = {link: cost(request, *link) for link in links}
        assert all(share >= 0.1 for share in costs.values()), (request.config, costs)
    assert naming >= 40, "else it would be enough to name none"


def test_of_a_learned_hop_both_heads_are_named(models: list[tuple[ModelRequest, list[AnswerPath]]]) -> None:
    """One reads the symbol after an earlier occurrence of the query's symbol, and the other had marked it."""
    hops = [paths for request, paths in models if request.config.task == "hops"]
    both = [any(path.induction and " had marked" in path.sentence for path in paths) for paths in hops]
    assert sum(both) >= 0.9 * len(both)

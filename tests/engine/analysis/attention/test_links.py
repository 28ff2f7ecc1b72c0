import numpy as np
import pytest
import torch

from engine.analysis.attention.attribution import attribute_answers
from engine.analysis.attention.jobs import FollowAnswers, SwitchEachHeadOff
from engine.analysis.attention.links import NEEDED_SHARE, LostByAblation
from engine.analysis.attention.model import attention_at, held_out, model_of
from engine.analysis.attention.parts import Part
from engine.analysis.attention.requests import ModelRequest
from engine.analysis.measurements.head_pruning import attentions, gated
from engine.config.run_config import parse
from engine.runs.events import Snapshot
from engine.runs.folder import RunFolder
from engine.runs.run import Run
from engine.training.evaluation import forward
from tools.record import FOLDER


@pytest.fixture(scope="module")
def hops() -> Run:
    return Run.from_disk(RunFolder(FOLDER.parent / "hops"))


def test_of_one_hop_both_heads_are_named_and_only_where_the_answer_is_lost_without_them(hops: Run) -> None:
    request = ModelRequest(hops.config, str(hops.weights))
    paths, answer_layer = FollowAnswers(request, "").do()
    assert answer_layer is not None
    found = [path for path in paths if path]
    assert any(path.induction and path.sentence.endswith("which head 1 of layer 1 had marked.") for path in found)
    whole, without = (_right(request, off) for off in ([], [Part("head", "self", 1, 0)]))
    named = {path.position for path in found if any(one.layer == 1 for one in path.readings)}
    lost = {int(at) for at in np.flatnonzero(whole[0] & ~without[0])}
    assert named
    assert named <= lost, "taking it away loses this very answer"
    guessed = {path.position for path in attribute_answers(hops.events.of(Snapshot)[-1])[0] if path and path.readings}
    assert guessed - named, "by what is read alone it would be named where the answer survives"
    off = SwitchEachHeadOff(request).do()
    cost = {row["part"]: off["whole"]["accuracy"] - row["accuracy"] for row in off["rows"]}
    assert all(cost[one.part] > NEEDED_SHARE / 2 for path in found for one in path.readings)


def _right(request: ModelRequest, off: list[Part], rows: slice = slice(1)) -> np.ndarray:
    """True for answers to some sequences that are right with some heads multiplied by zero, [sequence, position]."""
    model, batch = model_of(request), held_out(request.config).rows(rows)
    gates = torch.ones(len(attentions(model)), request.config.n_heads)
    for part in off:
        gates[attentions(model).index(attention_at(model, part)), part.head] = 0.0
    with gated(model, gates), torch.no_grad():
        right: np.ndarray = (forward(model, batch).argmax(-1) == batch.targets).numpy()
    return right


def test_a_part_that_costs_less_than_a_tenth_is_no_link_even_where_the_answer_is_lost_without_it() -> None:
    config = parse({"task": "reverse", "n_layers": 2, "n_heads": 4, "seq_len": 6, "vocab_size": 3})
    request = ModelRequest(config)
    model, batch = model_of(request), held_out(config)
    lost_alone = needed = 0
    for part in (Part("head", "self", layer, head) for layer in range(2) for head in range(4)):
        whole, without = (_right(request, off, slice(5)) for off in ([], [part]))
        for row, at in np.argwhere(whole & ~without).tolist():
            lost = LostByAblation(model, batch.rows(slice(row, row + 1)), batch.rows(slice(100)))
            assert lost.needs(at, part) == (lost.share(part) >= NEEDED_SHARE)
            lost_alone += lost.share(part) < NEEDED_SHARE
            needed += lost.needs(at, part)
    assert lost_alone
    assert needed


def test_an_own_sequence_is_followed_and_a_wrong_one_refused(hops: Run) -> None:
    request = ModelRequest(hops.config, str(hops.weights))
    text = " ".join(hops.events.of(Snapshot)[-1].samples[0].tokens)
    assert FollowAnswers(request, text).do() == FollowAnswers(request, "").do()
    with pytest.raises(ValueError, match="is not known; the tokens are"):
        FollowAnswers(request, "x y z").do()

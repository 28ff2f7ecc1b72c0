"""The path of two heads, tested by what it carries: what the lower head, the sender, tells the upper one, the receiver, is exchanged with
what it writes on another sequence.

Path patching: Wang et al. 2022, Interpretability in the Wild; Goldowsky-Dill et al. 2023, Localizing Model Behavior with Path Patching
(arXiv 2304.05969). All other heads between the two write what they write on the sequence itself; MLPs and norms, which may hand on
what the sender writes, are computed. The other sequence is the same but for two symbols in each other's place: the one that the sender
reads, and another one, such that the model answers otherwise. So an answer that becomes that of the other sequence was told by this path.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor, nn

from engine.analysis.attention.asked import LARGEST, ModelAsked, SampleAsked, Which, tap_name, weights_of_one_sequence
from engine.analysis.attention.following import followed
from engine.analysis.attention.model import attention_at, held_out, model_of, run_with_cache, sample_of
from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import Path, Words, in_pieces, named
from engine.analysis.attention.taken import OTHERS, TAKES_OVER
from engine.analysis.attention.without import without_parts
from engine.analysis.measurements.head_pruning import hooked
from engine.foundation.formatting import counted
from engine.model.transformer import Transformer
from engine.training.data import Batch
from engine.training.evaluation import forward
from engine.training.snapshot import answer_namer, take_snapshot, token_names

TRIES = 24
"""How often a position that answers, and a symbol for the exchange, are drawn for a sequence."""
APART = 2
"""The least distance of that symbol from the read one and from the position that answers: beside them it would change the question."""


def path_at(asked: ModelAsked, sample: SampleAsked, position: int) -> Path | None:
    """The answer to :class:`engine.analysis.attention.jobs.FollowAnswer`."""
    config = asked.config.replace(device="cpu")
    snapshot = take_snapshot(config, model_of(asked), sample_of(config, sample), asked.at_step)
    return followed(snapshot)[0][position]


class ExchangedHere(NamedTuple):
    """The exchange in one sequence."""

    places: tuple[int, int]
    """The positions of the two symbols that change places, from 0, in their order."""
    symbols: tuple[str, str]
    own: str
    """The answer to the sequence."""
    told: str
    """The answer to the other one, in which the symbols have changed places."""
    alone: str
    """The answer to the sequence where the upper head alone reads what the lower one writes on the other."""


class Exchanged(NamedTuple):
    """Answers in several sequences that become those of the other sequences, in which two symbols have changed places."""

    sequences: int
    answers: int
    """The answers that are compared, at most one for each sequence: right ones, which differ from those of the other sequences."""
    alone: int
    """Those that become the other one where the upper head alone reads what the lower one writes on the other sequence."""
    wrong: int
    """Those that become neither the one nor the other then."""
    by_next: int
    """Those that become the other one with the next head in the place of the lower one."""
    all_senders: int
    """The same with all heads of the lower head's layer in its place."""
    all_readers: int
    """The same where all parts that read the lower head read what it writes on the other sequence."""


def path_exchanged(
    asked: ModelAsked, sample: SampleAsked, position: int, sender: Part, receiver: Part
) -> tuple[Words, ...]:
    """The answer to :class:`engine.analysis.attention.jobs.ExchangePath`."""
    return verdict(sender, receiver, *exchanged(asked, sample, position, sender, receiver))


@torch.no_grad()
def exchanged(
    asked: ModelAsked, sample: SampleAsked, position: int, sender: Part, receiver: Part
) -> tuple[Part | None, ExchangedHere | None, Exchanged]:
    """The other head of the lower head's layer with which most answers change, None where there is no other; the exchange in the sequence,
    None where none that was tried changes the answer; and the exchanges in others."""
    config = asked.config.replace(device="cpu")
    model = without_parts(model_of(asked), ())  # a copy in which layers that share weights are separate ones
    one, most = sample_of(config, sample), max(1, min(OTHERS, LARGEST // weights_of_one_sequence(config)))
    batch = held_out(config).rows(slice(1, 1 + most))
    here = pairs_of(model, one, sender, receiver, torch.tensor([position]))
    others = pairs_of(model, batch, sender, receiver)
    siblings = [replace(sender, head=head) for head in range(config.n_heads) if head != sender.head]
    alone = path_answers(model, others, [sender], receiver)
    by_sibling = {one: _become(others, path_answers(model, others, [one], receiver)) for one in siblings}
    follows = max(siblings, key=lambda part: by_sibling[part], default=None)
    found = Exchanged(
        sequences=len(batch.inputs),
        answers=len(others.at),
        alone=_become(others, alone),
        wrong=int(((alone != others.told) & (alone != others.own)).sum()),
        by_next=0 if follows is None else by_sibling[follows],
        all_senders=_become(others, path_answers(model, others, [sender, *siblings], receiver)),
        all_readers=_become(others, answers(model, others, heads_given(model, others, [sender]))),
    )
    if not len(here.at):
        return follows, None, found
    name, symbols = answer_namer(config), token_names(config, one.inputs[0].tolist())
    first, second = sorted((int(here.read), int(here.partner)))
    told = (here.own, here.told, path_answers(model, here, [sender], receiver))
    shown = ExchangedHere((first, second), (symbols[first], symbols[second]), *(name(int(answer)) for answer in told))
    return follows, shown, found


@dataclass(frozen=True)
class Pairs:
    """Sequences of which one answer is asked, and each with two symbols exchanged, so that the model answers otherwise. All but the
    batches [row]."""

    batch: Batch
    other: Batch
    at: Tensor
    """The position that answers."""
    read: Tensor
    """The position of the symbol that the sender reads at the position that the receiver reads."""
    partner: Tensor
    """The position of the symbol that changes places with it."""
    own: Tensor
    """The answer to the sequence."""
    told: Tensor
    """The answer to the other one."""


def pairs_of(model: Transformer, batch: Batch, sender: Part, receiver: Part, at: Tensor | None = None) -> Pairs:
    """The pairs, for as many of the sequences as one is found. ``at`` [row]: the positions that answer; by default one is drawn in each
    sequence, among those whose answers are right and counted by the task's first metric."""
    upper, lower = (f"{tap_name(model.config, part.which, part.layer)}.pattern" for part in (receiver, sender))
    logits, cache = run_with_cache(model, batch, upper, lower)
    given, row = logits.argmax(-1), torch.arange(len(batch.inputs))
    fits = torch.zeros_like(batch.inputs, dtype=torch.bool)
    if at is None:
        counts = next(iter(batch.regions.values()))
        fits[:, counts] = (given == batch.targets)[:, counts]
    else:
        fits[row, at] = True
    generator = torch.Generator().manual_seed(0)
    found, places, others = torch.zeros(len(row)).bool(), torch.zeros(len(row), 4).long(), batch.inputs.clone()
    for _ in range(TRIES):
        here = (torch.rand(fits.shape, generator=generator) * fits).argmax(-1)
        key = cache[upper][row, receiver.head, here].argmax(-1)
        read = cache[lower][row, sender.head, key].argmax(-1)
        partner = torch.randint(2**31, (len(row),), generator=generator)
        partner = partner % (here + 1 if model.stack.causal else fits.size(1))
        twins = batch.inputs.clone()
        twins[row, read], twins[row, partner] = batch.inputs[row, partner], batch.inputs[row, read]
        told = forward(model, replace(batch, inputs=twins)).argmax(-1)[row, here]
        apart = ((partner - read).abs() >= APART) & ((partner - here).abs() >= APART) & (partner != key)
        apart &= (read != here) & (read != key)  # what stands there itself would answer otherwise
        new = ~found & fits[row, here] & apart & (told != given[row, here])
        found |= new
        places[new], others[new] = torch.stack([here, read, partner, told], dim=1)[new], twins[new]
    whole = batch.having({name: tensor[found] for name, tensor in batch.tensors.items()})
    here, read, partner, told = places[found].unbind(dim=1)
    other, own = replace(whole, inputs=others[found]), given[row, places[:, 0]][found]
    return Pairs(whole, other, here, read, partner, own, told)


def path_answers(model: Transformer, pairs: Pairs, senders: Sequence[Part], receiver: Part) -> Tensor:
    """The answers [row] where the receiver alone reads what the senders, heads of one layer, write on the other sequence."""
    mixed = mixed_name(model, receiver)
    between = attentions_between(model, senders[0].layer, receiver.layer)
    own = run_with_cache(model, pairs.batch, mixed, *between.values())[1]
    inputs = {module: own[name].transpose(1, 2).flatten(2) for module, name in between.items()}
    with reading(inputs | heads_given(model, pairs, senders)):
        received = run_with_cache(model, pairs.batch, mixed)[1]
    return answers(
        model, pairs, {attention_at(model, receiver).out: side_by_side(own[mixed], received[mixed], [receiver])}
    )


def answers(model: Transformer, pairs: Pairs, inputs: dict[nn.Module, Tensor]) -> Tensor:
    """The answers [row] where these linear layers read these inputs."""
    with reading(inputs):
        return forward(model, pairs.batch).argmax(-1)[torch.arange(len(pairs.at)), pairs.at]


def _become(pairs: Pairs, given: Tensor) -> int:
    """How many answers [row] are those of the other sequences."""
    return int((given == pairs.told).sum())


def heads_given(model: Transformer, pairs: Pairs, heads: Sequence[Part]) -> dict[nn.Module, Tensor]:
    """What the output projection of a layer's heads reads where some of them write what they write on the other sequence."""
    name = mixed_name(model, heads[0])
    own, other = (run_with_cache(model, batch, name)[1][name] for batch in (pairs.batch, pairs.other))
    return {attention_at(model, heads[0]).out: side_by_side(own, other, heads)}


def side_by_side(own: Tensor, other: Tensor, heads: Sequence[Part]) -> Tensor:
    """The outputs of heads, [row, head, position, d_head] each, those of some heads from ``other``, as their projection reads them:
    [row, position, head * d_head]."""
    mixed = own.clone()
    for part in heads:
        mixed[:, part.head] = other[:, part.head]
    return mixed.transpose(1, 2).flatten(2)


def attentions_between(model: Transformer, first: int, last: int) -> dict[nn.Module, str]:
    """The output projections from one layer up to another, without those of the latter, and the names of what they read."""
    kinds: tuple[Which, ...] = ("self",) if model.source_stack is None else ("self", "cross")
    heads = [Part("head", which, layer) for layer in range(first, last) for which in kinds]
    return {attention_at(model, head).out: mixed_name(model, head) for head in heads}


def mixed_name(model: Transformer, head: Part) -> str:
    return f"{tap_name(model.config, head.which, head.layer)}.mixed"


def reading(inputs: dict[nn.Module, Tensor]) -> AbstractContextManager[None]:
    """Inside the block these modules read these inputs."""
    return hooked(inputs, lambda module, _: (inputs[module],))


def verdict(
    sender: Part, receiver: Part, follows: Part | None, here: ExchangedHere | None, others: Exchanged
) -> tuple[Words, ...]:
    """What becomes of the answers, compared with the same exchange of other heads, in words."""
    sequences, total, lower = counted(others.sequences, "other sequence"), others.answers, named(sender)
    if not total:
        return in_pieces(f"In {sequences} no right answer changes when two symbols are exchanged in this way.")
    said = (
        f"Where {named(receiver)} alone reads what {lower} writes on a sequence with two symbols exchanged, {others.alone} of "
        f"{counted(total, 'right answer')} in {sequences} become the answer to that sequence, and {others.wrong} another wrong one."
    )
    if here is not None:
        (one, other), (first, second) = here.symbols, here.places
        said += (
            f" Here, with the “{one}” and the “{other}” at positions {first + 1} and {second + 1} exchanged, the whole model answers "
            f"“{here.told}” in place of “{here.own}”; with the exchange for this head alone it answers “{here.alone}”."
        )
    if follows is not None:
        shared = others.all_senders - others.alone >= TAKES_OVER * total
        said += (
            f" With {named(follows)} in place of {lower}, the most of any other head of that layer, {others.by_next} change, and with all "
            f"of its heads together {others.all_senders}: {'others write a part of it' if shared else 'no other one is needed'}."
        )
    taken_over = others.all_readers - others.alone >= TAKES_OVER * total
    readers = "other readers take over" if taken_over else "no other reader takes over"
    return in_pieces(f"{said} Where all that reads {lower} reads the exchange, {others.all_readers} change: {readers}.")

"""Ablating a head of a trained model: right answers that become wrong, in one sequence and in others, and a head that takes over.

The head's output is set to zero (:mod:`engine.analysis.attention.ablation`). Another head takes over if more answers are lost without
both than without the one and without the other together: self-repair (McGrath et al. 2023, The Hydra Effect), the backup heads of Wang
et al. 2022, Interpretability in the Wild.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from engine.analysis.attention.ablation import ablated
from engine.analysis.attention.jobs import HeadAblation
from engine.analysis.attention.model import held_out, model_of, sample_of
from engine.analysis.attention.parts import Part, parts_of
from engine.analysis.attention.path import heads_in_words, in_pieces, naming
from engine.analysis.attention.requests import ModelRequest, SampleRequest
from engine.foundation.formatting import counted, percent
from engine.model.transformer import Transformer
from engine.training.data import Batch
from engine.training.evaluation import forward
from engine.training.snapshot import take_snapshot

OTHER_SEQUENCES = 100  # held-out sequences besides the one that is read
HARDLY_NEEDED_SHARE = 0.05  # the share of the right answers up to which a head is hardly needed
# the share of the right answers that are lost without both heads, beyond those without the one and without the other, from which
# on another head takes over
TAKEOVER_SHARE = 0.1


class LostAnswers(NamedTuple):
    sequences: int
    right: int
    lost: int
    lost_by_next: int
    lost_by_both: int


def head_ablation(request: ModelRequest, text: str, head: Part) -> HeadAblation:
    """Answer :class:`engine.analysis.attention.jobs.AblateHead`. Raises ValueError with one sentence if the text is no question of
    the task."""
    return in_words(head, *lost_answers(request, text, head))


def lost_answers(request: ModelRequest, text: str, head: Part) -> tuple[Part | None, LostAnswers, LostAnswers]:
    """The head that adds most to the right symbols without this one, if there is another; and the lost answers, in the sequence and
    in others."""
    config, model = request.config.replace(device="cpu"), model_of(request)
    here, others = sample_of(config, SampleRequest(text=text)), held_out(config).rows(slice(1, 1 + OTHER_SEQUENCES))
    without_head = ablated(model, [head])
    next_head = strongest_head(without_head, here, request.at_step, but=head)
    both = [head] if next_head is None else [head, next_head]
    models = (model, without_head, ablated(model, both[1:]), ablated(model, both))
    return next_head, count_lost(models, here), count_lost(models, others)


def strongest_head(model: Transformer, batch: Batch, step: int, *, but: Part) -> Part | None:
    """The head whose direct contribution to the right symbols of the first sequence is largest; None if there is no head but one."""
    contributions = take_snapshot(model.config, model, batch, step).contributions
    added = {
        part: float(np.nansum(contributions[part.which][part.layer, part.head]))
        for part in parts_of(model.config).values()
        if part.kind == "head" and part.which in contributions and part != but
    }
    return max(added, key=lambda part: added[part], default=None)


@torch.no_grad()
def count_lost(models: Sequence[Transformer], batch: Batch) -> LostAnswers:
    """Count the right answers of the first model that each of the others loses, where the task's first metric counts."""
    region = next(iter(batch.regions.values()))
    whole, *others = [(forward(one, batch).argmax(-1) == batch.targets)[:, region] for one in models]
    return LostAnswers(len(batch.inputs), int(whole.sum()), *(int((whole & ~still).sum()) for still in others))


def in_words(head: Part, next_head: Part | None, here: LostAnswers, others: LostAnswers) -> HeadAblation:
    if not others.right:
        return HeadAblation(words=in_pieces("The model has no right answer that could be lost."), details="")
    share, beyond = others.lost / others.right, others.lost_by_both - others.lost - others.lost_by_next
    needed, covers = share > HARDLY_NEEDED_SHARE, beyond >= TAKEOVER_SHARE * others.right
    sentence = f"Removed: {heads_in_words(head)}. {others.lost:,} of {others.right:,} answers lost ({percent(share)})."
    if next_head is not None and covers:
        sentence += f" {_in_short(next_head, head)} takes over {'part of its work' if needed else 'its work'}."
    elif not needed:
        sentence += " The model hardly needs this head."
    details = f"Counted in {counted(others.sequences, 'other sequence')} (in this one: {here.lost} of {here.right})."
    if next_head is not None and (needed or covers):
        details += (
            f" If only head {next_head.head + 1} of layer {next_head.layer + 1} is removed, {others.lost_by_next:,} are lost; "
            f"if both are, {others.lost_by_both:,}."
        )
    return HeadAblation(words=in_pieces(sentence), details=details)


def _in_short(other: Part, head: Part) -> str:
    if (other.which, other.layer) == (head.which, head.layer):
        return naming(other, f"Head {other.head + 1}")
    return heads_in_words(other, capital=True)

"""A head taken away from a trained model: how many right answers become wrong, in one sequence and in others, and whether another head
takes over.

Its output is set to zero (:mod:`engine.analysis.attention.ablation`). Another head takes over where more answers are lost without both than
without the one and without the other together: self-repair (McGrath et al. 2023, The Hydra Effect), the backup heads of Wang et al. 2022,
Interpretability in the Wild.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch

from engine.analysis.attention.ablation import ablated
from engine.analysis.attention.jobs import HeadAblation
from engine.analysis.attention.model import held_out, model_of, sample_of
from engine.analysis.attention.parts import Part, parts_of
from engine.analysis.attention.path import in_pieces, named, naming
from engine.analysis.attention.requests import ModelRequest, SampleRequest
from engine.foundation.formatting import counted, percent
from engine.model.transformer import Transformer
from engine.training.data import Batch
from engine.training.evaluation import forward
from engine.training.snapshot import take_snapshot

OTHERS = 100
"""The number of other held-out sequences."""
HARDLY = 0.05
"""The share of the right answers up to which a head is hardly needed."""
TAKES_OVER = 0.1
"""The share of the right answers that are lost without both heads, beyond those without the one and without the other, from which on
another head takes over."""


class Fallen(NamedTuple):
    """Right answers of the whole model that are wrong without a head."""

    sequences: int
    right: int
    """The right answers of the whole model."""
    without: int
    """Those that are wrong without the head."""
    without_next: int
    """Those that are wrong without the next head alone."""
    without_both: int
    """Those that are wrong without both."""


def head_ablation(request: ModelRequest, text: str, head: Part) -> HeadAblation:
    """The answer to :class:`engine.analysis.attention.jobs.AblateHead`. Raises ValueError with one sentence where the text is no
    question of the task."""
    return verdict(head, *lost_without(request, text, head))


def lost_without(request: ModelRequest, text: str, head: Part) -> tuple[Part | None, Fallen, Fallen]:
    """The head that adds most to the right symbols once this one is gone, None where there is no other; and the answers that are lost, in
    the sequence and in others."""
    config, model = request.config.replace(device="cpu"), model_of(request)
    here, others = sample_of(config, SampleRequest(text=text)), held_out(config).rows(slice(1, 1 + OTHERS))
    without = ablated(model, [head])
    follows = strongest_head(without, here, request.at_step, but=head)
    both = [head] if follows is None else [head, follows]
    models = (model, without, ablated(model, both[1:]), ablated(model, both))
    return follows, fallen(models, here), fallen(models, others)


def strongest_head(model: Transformer, batch: Batch, step: int, *, but: Part) -> Part | None:
    """The head that adds most to the right symbols of the first sequence by itself; None where there is no head but one."""
    contributions = take_snapshot(model.config, model, batch, step).contributions
    added = {
        part: float(np.nansum(contributions[part.which][part.layer, part.head]))
        for part in parts_of(model.config).values()
        if part.kind == "head" and part.which in contributions and part != but
    }
    return max(added, key=lambda part: added[part], default=None)


@torch.no_grad()
def fallen(models: Sequence[Transformer], batch: Batch) -> Fallen:
    """The right answers of the first model that each of the others loses: in the part of the sequences that the task's first metric
    counts."""
    region = next(iter(batch.regions.values()))
    whole, *others = [(forward(one, batch).argmax(-1) == batch.targets)[:, region] for one in models]
    return Fallen(len(batch.inputs), int(whole.sum()), *(int((whole & ~still).sum()) for still in others))


def verdict(head: Part, follows: Part | None, here: Fallen, others: Fallen) -> HeadAblation:
    """The answers that are lost, and whether the next head covers for this one, in words."""
    if not others.right:
        return HeadAblation(words=in_pieces("The model has no right answer that could be lost."), details="")
    share, beyond = others.without / others.right, others.without_both - others.without - others.without_next
    needed, covers = share > HARDLY, beyond >= TAKES_OVER * others.right
    sentence = f"Removed: {named(head)}. {others.without:,} of {others.right:,} answers lost ({percent(share)})."
    if follows is not None and covers:
        sentence += f" {_in_short(follows, head)} covers for {'part of it' if needed else 'it'}."
    elif not needed:
        sentence += " The model hardly needs it."
    details = f"Counted in {counted(others.sequences, 'other sequence')}; here {here.without} of {here.right}."
    if follows is not None and (needed or covers):
        details += (
            f" Without head {follows.head + 1} of layer {follows.layer + 1} alone {others.without_next:,} are lost, "
            f"without both {others.without_both:,}."
        )
    return HeadAblation(words=in_pieces(sentence), details=details)


def _in_short(other: Part, head: Part) -> str:
    """The other head at the beginning of a sentence, by its number alone where it is in the same layer."""
    if (other.which, other.layer) == (head.which, head.layer):
        return naming(other, f"Head {other.head + 1}")
    return named(other, capital=True)

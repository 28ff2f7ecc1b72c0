"""The links that an answer needs: parts on its path are links only if ablating them in the trained model loses the answer.

That is, the answer itself becomes wrong, and so does at least a tenth of all right answers in this sequence and a hundred others.
"""

from functools import cache, partial

import torch
from torch import Tensor

from engine.analysis.attention.ablation import ablated
from engine.analysis.attention.attribution import attribute_answers
from engine.analysis.attention.head_ablation import OTHER_SEQUENCES
from engine.analysis.attention.model import held_out, model_of, sample_of
from engine.analysis.attention.parts import Part
from engine.analysis.attention.path import AnswerLayer, Path
from engine.analysis.attention.requests import ModelRequest, SampleRequest
from engine.model.transformer import Transformer
from engine.training.data import Batch
from engine.training.evaluation import forward
from engine.training.snapshot import take_snapshot

NEEDED_SHARE = 0.1  # the least share of the right answers that are lost without a link


class LostByAblation:
    """The answers that a model loses without some parts, in one sequence and in others. Each is measured once, when first needed."""

    def __init__(self, model: Transformer, here: Batch, others: Batch) -> None:
        self._model, self._batches = model, (here, others)
        self._lost = cache(self._lost_answers)
        # the right answers of the whole model: which = 0 is the one sequence, 1 the others
        self._whole = cache(lambda which: right_answers(model, self._batches[which]))

    def needs(self, position: int, *parts: Part) -> bool:
        """True if the answer at a position of the one sequence is lost without these parts, and enough others are."""
        return bool(self._lost(parts, 0)[0, position]) and self.share(*parts) >= NEEDED_SHARE

    def share(self, *parts: Part) -> float:
        lost, whole = (
            sum(count_answers(of(which), batch) for which, batch in enumerate(self._batches))
            for of in (partial(self._lost, parts), self._whole)
        )
        return lost / max(1, whole)

    def _lost_answers(self, parts: tuple[Part, ...], which: int) -> Tensor:
        return self._whole(which) & ~right_answers(ablated(self._model, parts), self._batches[which])


@torch.no_grad()
def right_answers(model: Transformer, batch: Batch) -> Tensor:
    """True for each right answer, [sequence, position]."""
    return forward(model, batch).argmax(-1) == batch.targets


def count_answers(answers: Tensor, batch: Batch) -> int:
    # where the task's first metric counts
    return int(answers[:, next(iter(batch.regions.values()))].sum())


def attribute_answers_by_links(request: ModelRequest, text: str) -> tuple[list[Path | None], AnswerLayer | None]:
    """Answer :class:`engine.analysis.attention.jobs.FollowAnswers`. Raises ValueError with one sentence if the text is no question
    of the task."""
    config, model = request.config.replace(device="cpu"), model_of(request)
    here, others = sample_of(config, SampleRequest(text=text)), held_out(config).rows(slice(1, 1 + OTHER_SEQUENCES))
    return attribute_answers(
        take_snapshot(config, model, here, request.at_step), LostByAblation(model, here, others).needs
    )

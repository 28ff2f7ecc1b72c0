"""Losses of counting characters on the text of a criterion, for comparison with a trained model's loss."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from engine.experiments.benchmark.criteria import CRITERIA, Criterion, model_of
from engine.experiments.benchmark.table import DECIMALS
from engine.experiments.evidence import FOLDER
from engine.experiments.evidence.tables import store_rows, stored_rows
from engine.foundation.provenance import today
from engine.tasks.text import TextSettings
from engine.tasks.text.kneser_ney import kneser_ney

FILE = "counted.json"  # in the folder of the evidence, written by python -m tools.evidence choice
ORDERS = range(1, 7)  # characters in a gram, the predicted one included
TRIGRAM = 3


@dataclass(frozen=True)
class CountedText:
    """Losses of Kneser-Ney (:mod:`engine.tasks.text.kneser_ney`) on held-out text, in nats per token."""

    date: str
    losses: Mapping[int, float]
    """By the number of tokens in a gram."""


def count_text(criterion: Criterion) -> CountedText:
    config = model_of(criterion)
    settings = config.task_settings
    assert isinstance(settings, TextSettings)
    text = settings.encoded()
    models = {order: kneser_ney(text.trained, settings.n_symbols, order) for order in ORDERS}
    nats = {order: np.concatenate([model.nats(one) for one in text.held_out]) for order, model in models.items()}
    return CountedText(today(), {order: round(float(each.mean()), 4) for order, each in nats.items()})


def is_counted(criterion: Criterion) -> bool:
    return isinstance(model_of(criterion).task_settings, TextSettings)


def write_counted(folder: Path = FOLDER) -> None:
    texts = {name: count_text(criterion) for name, criterion in CRITERIA.items() if is_counted(criterion)}
    row = {
        name: {"date": one.date, "losses": {str(n): loss for n, loss in one.losses.items()}}
        for name, one in texts.items()
    }
    store_rows(folder / FILE, row, 2)


def shipped_counted() -> dict[str, CountedText]:
    return {
        name: CountedText(row["date"], {int(n): loss for n, loss in row["losses"].items()})
        for name, row in stored_rows(FOLDER / FILE).items()
    }


def is_worse_than_counting(criterion: Criterion, loss: float) -> bool:
    """True if a loss on a text, rounded as in the table, is higher than that of counting three characters."""
    counted = shipped_counted().get(criterion.slug)
    return counted is not None and round(loss, DECIMALS) > round(counted.losses[TRIGRAM], DECIMALS)

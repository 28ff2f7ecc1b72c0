"""Estimates as data frames. This module imports pandas, which workers should not load: import it only where a frame is needed."""

from collections.abc import Iterable
from dataclasses import asdict

import pandas as pd

from engine.estimate.at_scale import PRECISIONS, Published, takes


def models_frame(
    models: Iterable[Published], precision: str, *, context: int | None = None, batch: int = 1, written: bool = False
) -> pd.DataFrame:
    """A row for each published model, with its predicted memory in bytes.

    ``context``: the tokens of a sequence; None: as many as each model was made for. ``batch``: sequences side by side.
    ``written``: whether the scores are stored.
    """
    rows = []
    for model in models:
        length = context or model.context
        found = takes(model, PRECISIONS[precision], length, batch, written=written)
        rows.append(
            {
                "model": model.slug, "precision": precision, "context": length, **asdict(found),
                "training": found.training, "writing": found.writing,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)

"""The evidence on encodings as a data frame. This module imports pandas, which workers should not load: import it only where a
frame is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from engine.experiments.jobs import Cell

COLUMNS = [
    "encoding", "property", "state", "value", "low", "high", "seeds", "number", "number before", "chance", "arm", "measured",
]  # fmt: skip
NUMBERS = ["value", "low", "high", "number", "number before", "chance"]


def evidence_frame(evidence: Mapping[str, Sequence[Cell]]) -> pd.DataFrame:
    """A row for each encoding and property, from the cells of each encoding by its name.

    ``value`` is the mean over the seeds from 0 (guessing) to 1, ``low`` and ``high`` its 95 % interval; empty cells where the
    evidence has no such number.
    """
    rows = [
        (
            encoding, cell["quality"], cell["state"], cell["value"], *(cell["ci"] or (None, None)), cell["seeds"],
            cell["number"], cell["number_before"], cell["chance"], cell["arm"], cell["origin"],
        )
        for encoding, cells in evidence.items()
        for cell in cells
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(NUMBERS, "float"))

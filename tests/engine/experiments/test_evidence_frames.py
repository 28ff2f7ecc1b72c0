"""The evidence as a data frame: every cell of the table, with the same numbers."""

from __future__ import annotations

from math import isnan
from pathlib import Path

import pytest

from engine.encodings import ENCODINGS
from engine.experiments.choice import evidence_table
from engine.experiments.evidence_frames import COLUMNS, evidence_frame
from engine.experiments.properties import PROPERTIES


def test_a_row_for_each_encoding_and_property(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_LAB_DATA", str(tmp_path))
    evidence = {row["encoding"]: row["cells"] for row in evidence_table()}
    frame = evidence_frame(evidence)
    assert list(frame) == COLUMNS
    assert len(frame) == len(ENCODINGS) * len(PROPERTIES)
    cells = [cell for of_one in evidence.values() for cell in of_one]
    assert {cell["state"] for cell in cells} >= {"supported", "not measured", "no row"}
    for row, cell in zip(frame.to_dict("records"), cells, strict=True):
        assert (row["property"], row["state"], row["seeds"]) == (cell["quality"], cell["state"], cell["seeds"])
        for name, number in (("value", cell["value"]), ("number", cell["number"]), ("chance", cell["chance"])):
            assert isnan(row[name]) if number is None else row[name] == number
        assert isnan(row["low"]) if cell["ci"] is None else (row["low"], row["high"]) == cell["ci"]
    assert evidence_frame({}).empty

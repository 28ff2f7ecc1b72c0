"""Predictions of published models as a data frame."""

from __future__ import annotations

from dataclasses import asdict

from engine.estimate.at_scale import PRECISIONS, WELL_KNOWN, takes
from engine.estimate.frames import models_frame


def test_a_row_for_each_model_with_every_byte_also_above_64_bits() -> None:
    frame = models_frame(WELL_KNOWN.values(), "fp32", batch=3, written=True)
    assert list(frame["model"]) == list(WELL_KNOWN)
    for row in frame.to_dict("records"):
        model = WELL_KNOWN[row["model"]]
        found = takes(model, PRECISIONS["fp32"], model.context, 3, written=True)
        assert row == {
            "model": model.name, "precision": "fp32", "context": model.context, **asdict(found),
            "training": found.training, "writing": found.writing,
        }  # fmt: skip

    model = WELL_KNOWN["llama3-70b"]
    frame = models_frame([model], "bf16", context=10_000_000, batch=4096, written=True)
    found = takes(model, PRECISIONS["bf16"], 10_000_000, 4096, written=True)
    assert found.activations > 2**64
    assert frame["activations"][0] == found.activations

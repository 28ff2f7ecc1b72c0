import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.analysis.encodings.jobs import Timing
from engine.config.run_config import RunConfig
from engine.estimate.prediction import added_parameters
from engine.experiments.benchmark.criteria import COMPARED
from engine.foundation.provenance import Provenance, provenance
from engine.tasks import PLAIN

FILE = Path(__file__).with_name("times.json")  # written by python -m tools.costs encodings

# the model in which parameters are counted and time is measured
MODEL = RunConfig(
    task=PLAIN, family="decoder", seq_len=128, d_model=64, n_heads=4, n_layers=2, batch_size=8, device="cpu"
)


@dataclass(frozen=True)
class CostRow:
    parameters: int | None
    timing: Timing | None
    """Relative to no encoding; None if it was not measured."""


@dataclass(frozen=True)
class Times:
    machine: Provenance
    by_encoding: Mapping[str, Timing]


def machine() -> Provenance:
    """The part of the provenance on which a time depends."""
    origin = provenance()
    return {"torch": origin["torch"], "processor": origin["processor"], "date": origin["date"]}


@cache
def shipped_times(file: Path = FILE) -> Times:
    stored = json.loads(file.read_text("utf-8"))
    return Times(stored["machine"], stored["times"])


def costs_of_encodings() -> dict[str, CostRow]:
    times = shipped_times().by_encoding
    return {name: CostRow(added_parameters(MODEL, name), times.get(name)) for name in COMPARED}

"""The store of evidence on this machine: one JSON file for each finished comparison of a design, named by
:attr:`engine.experiments.comparison.Comparison.name`, so that a link finds it."""

import json
import re
import time
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.experiments.comparison import Comparison
from engine.experiments.experiment import Experiment
from engine.experiments.report import Report, report
from engine.experiments.running.experiment_run import ExperimentRun
from engine.experiments.trial import Trial
from engine.foundation.code_hash import code_hash
from engine.foundation.files import data_folder, write_for_visitor
from engine.foundation.provenance import provenance
from engine.foundation.stored_json import read_table

FORMAT = 1
MAX_EXPERIMENTS = 200  # the newest comparisons are stored
# the same for one visitor, so that a visitor with many comparisons loses no comparison of anybody else
MAX_EXPERIMENTS_OF_VISITOR = 20
DESIGNS = "designs"
NAME = re.compile("[0-9a-f]{12}")


def folder_of(slug: str) -> Path:
    return data_folder() / "evidence" / slug


def save(run: ExperimentRun, comparison: Comparison) -> Path:
    """Raises OSError if the disk does not take it."""
    file, row = _comparison_file(comparison.name), {**row_of(run), "asked": asdict(comparison)}
    write_for_visitor(file, json.dumps(row, allow_nan=False), run.visitor, MAX_EXPERIMENTS_OF_VISITOR, MAX_EXPERIMENTS)
    return file


def row_of(run: ExperimentRun) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "created": time.time(),
        "code": code_hash(),
        "provenance": provenance(),
        "seeds": list(run.seeds),
        "extended": run.extended,
        "seconds": run.seconds,
        "from_before": len(run.reused),
        "trials": [asdict(trial) for trial in run.trials],
    }


def report_of(experiment: Experiment, row: dict[str, Any]) -> Report:
    """The report on the trials in a stored row. Raises KeyError, TypeError or ValueError if the row holds none."""
    trials, reused = [trial_of(trial) for trial in row["trials"]], row.get("from_before", 0)
    facts = {"extended": row["extended"], "seconds": row["seconds"], "reused": reused}
    return report(experiment, trials, row["seeds"], provenance=row.get("provenance", {}), **facts)


def find_comparison(name: str) -> tuple[Comparison, Report] | None:
    row = read(_comparison_file(name)) if NAME.fullmatch(name) else {}
    with suppress(KeyError, TypeError, ValueError):  # ConfigError is a ValueError
        request = row["asked"]
        comparison = Comparison(request["parts"], tuple(request["against"]), tuple(request["tasks"]), request["seeds"])
        return comparison, report_of(comparison.experiment, row)
    return None


def _comparison_file(name: str) -> Path:
    return folder_of(DESIGNS) / f"{name}.json"


def read(file: Path) -> dict[str, Any]:
    """Empty if the file cannot be read or has another format."""
    row = read_table(file)
    return row if row.get("format") == FORMAT else {}


def trial_of(row: dict[str, Any]) -> Trial:
    """The trial in a stored row. Raises KeyError, TypeError or ValueError if the row holds none."""
    curves = {name: [(int(step), float(value)) for step, value in curve] for name, curve in row["curves"].items()}
    fields = {
        "failure" if name == "outcome" else name: value for name, value in row.items()
    }  # as files of 0.2.0 have it
    return Trial(**{**fields, "curves": curves})

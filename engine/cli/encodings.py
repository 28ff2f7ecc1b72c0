"""``encodings``: the registry, with the parameters and FLOPs that each encoding adds to a model; or the evidence on each."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from engine.cli.arguments import add_settings, config_from, refuse, settings_in
from engine.cli.cluster import add_scheduler, warm_pool
from engine.cli.experiments import measure_rates, run_to_end
from engine.cli.terminal import console, kept, print_json, table
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.prediction import added_flops, added_parameters
from engine.experiments.choice.advice import advice
from engine.experiments.choice.qualities import CHOICE, QUALITIES, SETS
from engine.experiments.choice.table import Cell, CellState, column
from engine.experiments.evidence.store import save
from engine.experiments.evidence.table import write_evidence
from engine.experiments.experiment import PILOTS
from engine.experiments.trial import Trial
from engine.foundation.provenance import provenance
from engine.settings.errors import not_one_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--evidence", action="store_true",
        help="the table behind “Which one should I use?”: each encoding at its best learning rate in each quality",
    )  # fmt: skip
    parser.add_argument(
        "--need", action="append", default=[], type=Need.parse, metavar="QUALITY[@TIMES]",
        help="say which encodings meet this, and where there is no answer; may be given again. One of "
        + ", ".join(f"{one.slug}@{'|'.join(map(str, one.times))}" if one.lengths else one.slug for one in QUALITIES.values()),
    )  # fmt: skip
    parser.add_argument(
        "--measure", action="store_true",
        help=f"measure the whole table: the rates on {PILOTS}, then {' and '.join(map(seeds_in_words, SETS))}",
    )  # fmt: skip
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="leave what was measured there")
    add_scheduler(parser)


def run(given: argparse.Namespace) -> int:
    if given.write and not given.measure:
        refuse({"write": given.write}, "a list of encodings")
    if given.evidence or given.need or given.measure:
        refuse(settings_in(given), "--evidence, --need and --measure")
        measured = measure(given) if given.measure else None
        return _show_evidence(given.need, measured, as_json=given.json)
    rows = encoding_rows(config_from(given))
    if given.json:
        print_json(*({**row, "provenance": provenance()} for row in rows))
        return 0
    lines = (
        (
            *(str(row[key]) for key in ("name", "label", "acts_on", "parameters")),
            "" if row["added_flops"] is None else f"+{row['added_flops']:.1%}",
            str(row["source"]),
        )
        for row in rows
    )
    columns = ("name", "label", "acts on", "parameters", "FLOPs", "source")
    console().print(table("Positional encodings", columns, lines))
    return 0


@dataclass(frozen=True)
class Need:
    """A quality at so many times the trained length, as it is typed: ``text@4``."""

    quality: str
    times: int

    @classmethod
    def parse(cls, text: str) -> Need:
        """Raises ArgumentTypeError with one sentence."""
        name, _, times = text.partition("@")
        quality = QUALITIES.get(name)
        if quality is None:
            raise argparse.ArgumentTypeError(str(not_one_of("need", text, QUALITIES)))
        if (times or "1") not in map(str, quality.times):
            raise argparse.ArgumentTypeError(
                f"need is {text}; allowed after @ is {', '.join(map(str, quality.times))}."
            )
        return cls(name, int(times or 1))


def measure(given: argparse.Namespace) -> list[Trial]:
    """Measure the whole table, and write or keep what was measured. Raises ValueError with the reason where it fails."""
    trials: list[Trial] = []
    if given.write:
        given.write.mkdir(parents=True, exist_ok=True)
    with warm_pool(given.scheduler) as pool:
        experiment = measure_rates(CHOICE, pool, as_json=given.json, folder=given.write)
        for first_seed in SETS:
            task = run_to_end(replace(experiment, first_seed=first_seed), pool, as_json=given.json)
            trials += task.trials
            kept("The evidence", partial(save, task))
            if given.write:
                kept("The evidence", partial(write_evidence, [task.report], given.write))
    return trials


def seeds_in_words(first_seed: int) -> str:
    return f"seeds {first_seed} to {first_seed + CHOICE.seeds - 1}"


def _show_evidence(needs: Sequence[Need], measured: Sequence[Trial] | None, *, as_json: bool) -> int:
    """Print the table, or for needs their columns, and the answer to them. ``measured``: the trials of this machine, by default the
    latest ones that it kept."""
    asked = needs or [Need(quality.slug, times) for quality in QUALITIES.values() for times in quality.times]
    columns = [column(QUALITIES[need.quality], need.times, measured) for need in asked]
    said = advice(columns if needs else [])
    if as_json:
        origin = {"provenance": provenance()}
        print_json(*({"encoding": name, **cell, **origin} for one in columns for name, cell in one.cells.items()))
        if needs:
            print_json({"event": "answer", **asdict(said)})
        return 0
    heads = [f"{one.quality.label}{f', {one.times}×' if one.quality.lengths else ''}" for one in columns]
    names = said.order or tuple(columns[0].cells)
    lines = ((ENCODINGS[name].label, *(cell_in_words(one.cells[name]) for one in columns)) for name in names)
    console().print(table("Which one should I use?", ("encoding", *heads), lines))
    print(
        "Accuracy, or for language nats per character; = the best, or no worse than is worth naming, ? undecided, * measured here."
    )
    if needs:
        print(said.words)
    return 0


MARKS: dict[CellState, str] = {"best": " =", "as good": " =", "undecided": " ?"}


def cell_in_words(cell: Cell) -> str:
    """A cell in a few characters."""
    here = "*" if cell["origin"] == "this machine" else ""
    if cell["state"] in ("not measured", "no row", "not learned") or cell["number"] is None:
        return f"{cell['state']}{here}"
    return f"{cell['number']:.2f}{MARKS.get(cell['state'], '')}{here}"


def encoding_rows(config: RunConfig) -> list[dict[str, object]]:
    """One row for each encoding; ``parameters``: the number it adds to this config's model; ``added_flops``: the FLOPs it adds
    to a training step, as a share; None where it does not go with the config."""
    return [
        {
            "name": row.name, "label": row.label, "acts_on": row.acts_on, "parameters": added_parameters(config, row.name),
            "added_flops": added_flops(config, row.name), "equation": row.equation, "source": row.source, "url": row.url,
        }
        for row in ENCODINGS.values()
    ]  # fmt: skip

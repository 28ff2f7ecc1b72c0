"""``encodings``: the registry, with the parameters and FLOPs that each encoding adds to a model; or the evidence on each."""

from __future__ import annotations

import argparse
import os
import sys
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
from engine.estimate.prediction import added_flops, added_parameters, predict
from engine.experiments.choice.advice import advice, label
from engine.experiments.choice.costs import Cost, cheapest_in_words, costs_now
from engine.experiments.choice.qualities import CHOICE, COMPARED, COSTS, NEEDS, QUALITIES, SETS, asked_by
from engine.experiments.choice.table import Cell, CellState, column
from engine.experiments.evidence.store import save
from engine.experiments.evidence.table import write_evidence
from engine.experiments.experiment import PILOT_SEEDS, PILOTS, Experiment
from engine.experiments.rates import first_grids
from engine.experiments.trial import Trial
from engine.foundation.formatting import in_time
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
        + ", ".join(_allowed(name) for name in NEEDS),
    )  # fmt: skip
    parser.add_argument(
        "--measure", nargs="?", const="both", choices=("both", "rates", "table"),
        help=f"measure the learning rates on {PILOTS}, and at these the table on {' and '.join(map(seeds_in_words, SETS))}; or only the "
        "rates, or only the table, at the rates that came with this version",
    )  # fmt: skip
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="leave what was measured there")
    add_scheduler(parser)


def run(given: argparse.Namespace) -> int:
    if given.write and not given.measure:
        refuse({"write": given.write}, "a list of encodings")
    if given.evidence or given.need or given.measure:
        refuse(settings_in(given), "--evidence, --need and --measure")
        measured = measure(given) if given.measure else None
        if given.measure == "rates" and not given.need:
            return 0
        return _show_evidence(given.need, measured, as_json=given.json)
    rows = encoding_rows(config_from(given))
    if given.json:
        print_json(*({**row, "provenance": provenance()} for row in rows))
        return 0
    lines = []
    for row in rows:
        flops = "" if row["added_flops"] is None else f"+{row['added_flops']:.1%}"
        first = [str(row[key]) for key in ("name", "label", "acts_on", "parameters")]
        lines.append((*first, flops, str(row["source"])))
    columns = ("name", "label", "acts on", "parameters", "FLOPs", "source")
    console().print(table("Positional encodings", columns, lines))
    return 0


@dataclass(frozen=True)
class Need:
    """A need, and the tested length in trained lengths, as they are typed: ``text@4``."""

    name: str
    times: int

    @classmethod
    def parse(cls, text: str) -> Need:
        """Raises ArgumentTypeError with one sentence."""
        name, at, times = text.partition("@")
        if name not in NEEDS:
            raise argparse.ArgumentTypeError(str(not_one_of("need", text, NEEDS)))
        lengths = _lengths(name)
        if at and not lengths:
            raise argparse.ArgumentTypeError(f"need is {text}; {name} has no tested length, leave @ out.")
        if at and times not in map(str, lengths):
            raise argparse.ArgumentTypeError(f"need is {text}; allowed after @ is {', '.join(map(str, lengths))}.")
        return cls(name, int(times) if at else (*lengths, 1)[0])


def _lengths(name: str) -> tuple[int, ...]:
    """The tested lengths that a need can ask about, in trained lengths; none where it asks about no length."""
    return QUALITIES[name].times if name in QUALITIES and QUALITIES[name].lengths else ()


def _allowed(name: str) -> str:
    """A need as it may be typed, with its tested lengths."""
    return f"{name}@{'|'.join(map(str, _lengths(name)))}" if _lengths(name) else name


def measure(given: argparse.Namespace) -> list[Trial]:
    """Measure the rates, the table or both, and write or keep what was measured. Raises ValueError with the reason where it fails."""
    trials: list[Trial] = []
    if given.write:
        given.write.mkdir(parents=True, exist_ok=True)
    tuned, sets = given.measure != "table", () if given.measure == "rates" else SETS
    with warm_pool(given.scheduler) as pool:
        print(work_in_words(CHOICE, tuned, len(sets)), file=sys.stderr)
        experiment = measure_rates(CHOICE, pool, as_json=given.json, folder=given.write) if tuned else CHOICE
        for first_seed in sets:
            task = run_to_end(replace(experiment, first_seed=first_seed), pool, as_json=given.json)
            trials += task.trials
            kept("The evidence", partial(save, task))
            if given.write:
                kept("The evidence", partial(write_evidence, [task.report], given.write))
    return trials


def work_in_words(experiment: Experiment, tuned: bool, sets: int) -> str:
    """The runs and minutes that an experiment takes, with its rates where it is ``tuned``, and how they are kept meanwhile."""
    pilots = len(first_grids(experiment)[0].missing()) * len(PILOT_SEEDS) if tuned else 0
    each = pilots + sets * experiment.seeds
    runs = f"{len(experiment.arms) * each:,} runs ({each} of each of {len(experiment.arms)} models)"
    more = ", more where the best rate lies at the end of its grid" if tuned else ""
    configs = [experiment.config(arm) for arm in experiment.arms]
    seconds = [predict(config).seconds(config.steps) for config in configs]
    known = [one * each for one in seconds if one is not None]
    cores = os.cpu_count() or 1
    takes = (
        f"about {in_time(sum(known) / cores)} on {cores} idle cores"
        if len(known) == len(configs)
        else "the time is not known, since the speed of this machine was not measured yet (python -m engine predict measures it)"
    )
    return f"Measuring takes {runs}{more}: {takes}. Each run is kept as it ends: after Ctrl-C the same command goes on where it was."


def seeds_in_words(first_seed: int) -> str:
    return f"seeds {first_seed} to {first_seed + CHOICE.seeds - 1}"


def _show_evidence(needs: Sequence[Need], measured: Sequence[Trial] | None, *, as_json: bool) -> int:
    """Print the table, or for needs their columns and costs, and the answer to them. ``measured``: the trials of this machine, by default
    the latest ones that it kept."""
    needs = tuple(dict.fromkeys(needs))
    if needs:
        asked = [(one, need.times) for need in needs if need.name not in COSTS for one in asked_by(need.name)]
    else:
        asked = [(quality, times) for quality in QUALITIES.values() for times in quality.times]
    columns = [column(quality, times, measured) for quality, times in asked]
    said = advice(columns if needs else [])
    names = said.order or tuple(columns[0].cells if columns else COMPARED)
    wanted = [need.name for need in needs if need.name in COSTS]
    costs = costs_now() if wanted else {}
    cheapest = cheapest_in_words(said.good, names, costs, wanted) if wanted else ""
    if as_json:
        origin = {"provenance": provenance()}
        print_json(*({"encoding": name, **cell, **origin} for one in columns for name, cell in one.cells.items()))
        if wanted:
            print_json(*({"encoding": name, "cost": asdict(costs[name]), **origin} for name in names))
        if needs:
            print_json({"event": "answer", **asdict(said), "cheapest": cheapest})
        return 0
    heads = [f"{one.quality.label}{f', {one.times}×' if one.quality.lengths else ''}" for one in columns]
    lines = []
    for name in names:
        cells = (cell_in_words(one.cells[name]) for one in columns)
        lines.append((label(name), *cells, *(_cost_in_words(costs[name], one) for one in wanted)))
    title = "Which one should I use?"
    console().print(table(title, ("encoding", *heads, *(COSTS[one].lower() for one in wanted)), lines))
    if columns:
        print(
            "Accuracy, or for language nats per character; = the best, or behind it by less than counts, ~ these runs "
            "cannot tell it from the best, ? undecided, * measured here."
        )
    if words := " ".join(filter(None, (said.words, cheapest))):
        print(words)
    return 0


def _cost_in_words(cost: Cost, need: str) -> str:
    if need == "parameters":
        return "" if cost.parameters is None else f"{cost.parameters:,}"
    return "" if cost.timing is None else f"{cost.timing['ratio']:.2f} ×"


MARKS: dict[CellState, str] = {"best": " =", "as good": " =", "cannot tell": " ~", "undecided": " ?"}


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

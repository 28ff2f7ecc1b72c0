import argparse

from engine.cli.arguments import add_settings, config_from, refuse, settings_in
from engine.cli.terminal import console, print_json, table
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.prediction import added_parameters
from engine.experiments.benchmark.advice import label
from engine.experiments.benchmark.counting import is_worse_than_counting
from engine.experiments.benchmark.criteria import COMPARED, CRITERIA
from engine.experiments.benchmark.table import DECIMALS, Column, column
from engine.foundation.provenance import provenance


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--evidence", action="store_true",
        help="the table behind the recommendation of the page Encodings: each encoding at its best learning rate for each criterion",
    )  # fmt: skip


def run(arguments: argparse.Namespace) -> int:
    if arguments.evidence:
        refuse(settings_in(arguments), "--evidence")
        return _show_evidence(as_json=arguments.json)
    rows = encoding_rows(config_from(arguments))
    if arguments.json:
        print_json(*({**row, "provenance": provenance()} for row in rows))
        return 0
    lines = []
    for row in rows:
        first = [str(row[key]) for key in ("name", "label", "acts_on", "parameters")]
        lines.append((*first, str(row["source"])))
    columns = ("name", "label", "acts on", "parameters", "source")
    console().print(table("Positional encodings", columns, lines))
    return 0


def _show_evidence(*, as_json: bool) -> int:
    columns = [column(criterion, times) for criterion in CRITERIA.values() for times in criterion.times]
    if as_json:
        origin = {"provenance": provenance()}
        print_json(*({"encoding": name, **cell, **origin} for one in columns for name, cell in one.cells.items()))
        return 0
    heads = [f"{one.criterion.label}{f', {one.times}×' if one.criterion.lengths else ''}" for one in columns]
    lines = [(label(name), *(cell_in_words(one, name) for one in columns)) for name in COMPARED]
    console().print(table("Which one should I use?", ("encoding", *heads), lines))
    print(
        "Accuracy, for characters nats. “=”: too close to the best in its column to matter; “?”: undecided; "
        "“>”: worse than a trigram of characters."
    )
    return 0


def cell_in_words(one: Column, name: str) -> str:
    cell = one.cells[name]
    if cell["state"] in ("not measured", "no row", "not learned") or cell["number"] is None:
        return cell["state"]
    mark = " =" if name in one.among_best else " ?" if cell["state"] == "undecided" else ""
    worse = " >" if is_worse_than_counting(one.criterion, cell["number"]) else ""
    return f"{cell['number']:.{DECIMALS}f}{mark}{worse}"


def encoding_rows(config: RunConfig) -> list[dict[str, object]]:
    """One row for each encoding; ``parameters``: added to this config's model, None if the two do not go together."""
    return [
        {
            "name": row.name, "label": row.label, "acts_on": row.acts_on, "parameters": added_parameters(config, row.name),
            "equation": row.equation, "source": row.source, "url": row.url,
        }
        for row in ENCODINGS.values()
    ]  # fmt: skip

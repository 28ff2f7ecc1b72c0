"""``encodings``: the registry, with the parameters and FLOPs that each encoding adds to a model; or the evidence on each."""

from __future__ import annotations

import argparse
import json

from rich.console import Console
from rich.table import Table

from engine.cli.arguments import add_settings, config_from
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.prediction import added_flops, added_parameters
from engine.experiments.jobs import Cell
from engine.experiments.properties import QUALITIES

HELP = "list the positional encodings"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)
    parser.add_argument(
        "--evidence", action="store_true", help="what the issues' experiments found of each: 0 is guessing, 1 all right"
    )


def run(given: argparse.Namespace) -> int:
    if given.evidence:
        return _show_evidence(as_json=given.json)
    rows = encoding_rows(config_from(given))
    if given.json:
        for row in rows:
            print(json.dumps(row))
        return 0
    table = Table("name", "label", "acts on", "parameters", "FLOPs", "source", title="Positional encodings")
    for row in rows:
        share = row["added_flops"]
        flops = "" if share is None else f"+{share:.1%}"
        table.add_row(*(str(row[key]) for key in ("name", "label", "acts_on", "parameters")), flops, str(row["source"]))
    Console().print(table)
    return 0


def _show_evidence(*, as_json: bool) -> int:
    from engine.experiments.choice import evidence_table  # imported here: it imports torch

    rows = evidence_table()
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return 0
    table = Table("encoding", *(quality.label for quality in QUALITIES), title="Which one should I use?")
    for row in rows:
        table.add_row(row["encoding"], *(cell_in_words(cell) for cell in row["cells"]))
    Console().print(table)
    print("0 is guessing, 1 all right (for longer sequences: all is kept); 95 % interval. * measured on this machine.")
    return 0


def cell_in_words(cell: Cell) -> str:
    here = "*" if cell["origin"] == "this machine" else ""
    if cell["value"] is None:
        return cell["state"] + here
    interval = f" ({cell['ci'][0]:.2f} to {cell['ci'][1]:.2f})" if cell["ci"] else ""
    return f"{cell['value']:.2f}{interval}, {cell['seeds']} seeds{here}"


def encoding_rows(config: RunConfig) -> list[dict[str, object]]:
    """One row for each encoding; ``parameters``: the number it adds to this config's model; ``added_flops``: the FLOPs it adds
    to a training step, as a share; None where it does not go with the config."""
    return [
        {
            "name": row.name,
            "label": row.label,
            "acts_on": row.acts_on,
            "parameters": added_parameters(config, row.name),
            "added_flops": added_flops(config, row.name),
            "equation": row.equation,
            "source": row.source,
        }
        for row in ENCODINGS.values()
    ]

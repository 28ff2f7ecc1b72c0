"""``encodings``: the registry, with the parameters each one adds to the model at hand."""

from __future__ import annotations

import argparse
import json

from rich.console import Console
from rich.table import Table

from engine.cli.arguments import add_settings, config_from
from engine.config import RunConfig
from engine.encodings import ENCODINGS
from engine.predict import added_parameters

HELP = "list the positional encodings"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_settings(parser)


def run(given: argparse.Namespace) -> int:
    rows = encoding_rows(config_from(given))
    if given.json:
        for row in rows:
            print(json.dumps(row))
        return 0
    table = Table("name", "label", "acts on", "parameters", "source", title="Positional encodings")
    for row in rows:
        table.add_row(*(str(row[key]) for key in ("name", "label", "acts_on", "parameters", "source")))
    Console().print(table)
    return 0


def encoding_rows(config: RunConfig) -> list[dict[str, object]]:
    """One row an encoding; ``parameters`` counts what it adds to this config's model, None where it does not fit."""
    return [
        {
            "name": row.name,
            "label": row.label,
            "acts_on": row.acts_on,
            "parameters": added_parameters(config, row.name),
            "equation": row.equation,
            "source": row.source,
        }
        for row in ENCODINGS.values()
    ]

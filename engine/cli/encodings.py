"""``encodings``: the registry, with the parameters and FLOPs that each encoding adds to a model; or the evidence on each."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from math import isnan
from typing import Any

from rich.console import Console

from engine.cli.arguments import add_settings, config_from
from engine.cli.terminal import print_json, table
from engine.config.run_config import RunConfig
from engine.encodings import ENCODINGS
from engine.estimate.prediction import added_flops, added_parameters
from engine.experiments.choice import PROPERTIES, evidence_table


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
        print_json(*rows)
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
    Console().print(table("Positional encodings", columns, lines))
    return 0


def _show_evidence(*, as_json: bool) -> int:
    rows = evidence_table()
    if as_json:
        print_json(*rows)
        return 0
    from engine.experiments.frames import evidence_frame  # imported here: it imports pandas

    frame = evidence_frame({row["encoding"]: row["cells"] for row in rows})
    frame["words"] = [cell_in_words(cell) for cell in frame.to_dict("records")]
    lines = ((str(encoding), *cells["words"]) for encoding, cells in frame.groupby("encoding", sort=False))
    columns = ("encoding", *(wanted.label for wanted in PROPERTIES))
    Console().print(table("Which one should I use?", columns, lines))
    print("0 is guessing, 1 all right (for longer sequences: all is kept); 95 % interval. * measured on this machine.")
    return 0


def cell_in_words(cell: Mapping[Any, Any]) -> str:
    """A row of the evidence in a few words."""
    here = "*" if cell["measured"] == "this machine" else ""
    if isnan(cell["value"]):
        return f"{cell['state']}{here}"
    interval = "" if isnan(cell["low"]) else f" ({cell['low']:.2f} to {cell['high']:.2f})"
    return f"{cell['value']:.2f}{interval}, {cell['seeds']} seeds{here}"


def encoding_rows(config: RunConfig) -> list[dict[str, object]]:
    """One row for each encoding; ``parameters``: the number it adds to this config's model; ``added_flops``: the FLOPs it adds
    to a training step, as a share; None where it does not go with the config."""
    return [
        {
            "name": row.name, "label": row.label, "acts_on": row.acts_on, "parameters": added_parameters(config, row.name),
            "added_flops": added_flops(config, row.name), "equation": row.equation, "source": row.source,
        }
        for row in ENCODINGS.values()
    ]  # fmt: skip

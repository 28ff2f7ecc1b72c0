"""``cost``: memory and time against length or depth, measured here."""

import argparse
import secrets
from functools import partial
from math import isnan

from rich.table import Table

from engine.cli.arguments import add_setting
from engine.cli.cluster import add_scheduler, warm_pool
from engine.cli.terminal import console, follow, kept, print_json, table
from engine.foundation.formatting import in_bytes, in_fine_time
from engine.sweeps import KINDS
from engine.sweeps.plan import SETTINGS, read_plan
from engine.sweeps.result import Result
from engine.sweeps.store import keep, to_json
from engine.sweeps.sweep import Sweep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--kinds", metavar="KIND,KIND", help=f"default all: {', '.join(KINDS)}")
    for row in SETTINGS.values():
        add_setting(parser, row)
    add_scheduler(parser)


def run(given: argparse.Namespace) -> int:
    settings = {name: value for name in ("kinds", *SETTINGS) if (value := getattr(given, name)) is not None}
    plan = read_plan(settings)
    with warm_pool(given.scheduler, 1) as pool:
        sweep = Sweep(plan, pool).start()
        follow(sweep, "cost")
    if sweep.state == "failed":
        raise ValueError(sweep.problem)
    if given.json:
        print_json(to_json(sweep.result))
    else:
        console().print(points_table(sweep.result), fits_table(sweep.result))
        for skip in sweep.result.skips:
            console().print(f"{KINDS[skip.kind].label} from {skip.place:,} on was left out: {skip.why}")
    kept("The measurement", partial(keep, secrets.token_urlsafe(12), sweep.result))
    return 0


def points_table(result: Result) -> Table:
    from engine.sweeps.frames import summaries_frame  # imported here: it imports pandas

    axis = {"length": "tokens", "depth": "layers"}[result.plan.axis]
    columns = ("kind", axis, "training step", "highest / lowest", "pass", "next token, past kept", "saved")
    rows = (
        (
            KINDS[row["kind"]].label, f"{row['place']:,}", in_fine_time(row["train"]), f"{row['train_high'] / row['train_low']:.2f}",
            *("" if isnan(row[name]) else in_fine_time(row[name]) for name in ("inference", "cached")),
            "" if isnan(row["saved"]) else in_bytes(row["saved"]),
        )
        for row in summaries_frame(result).to_dict("records")
    )  # fmt: skip
    return table(result.machine.device if result.machine else "", columns, rows, left=1)


def fits_table(result: Result) -> Table:
    from engine.sweeps.frames import fits_frame  # imported here: it imports pandas

    rows = (
        (
            KINDS[row["kind"]].label, row["quantity"], f"{row['exponent']:.2f}", f"{row['low']:.2f} to {row['high']:.2f}",
            f"{row['first']:,.0f} to {row['last']:,.0f}", row["says"],
        )
        for row in fits_frame(result).to_dict("records")
    )  # fmt: skip
    columns = ("kind", "of", "exponent", "95 % interval", "over", "says")
    return table("Power laws, over the upper part of each range", columns, rows)

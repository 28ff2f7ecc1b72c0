"""``cost``: memory and time against length or depth, measured here; or of well-known models, by formula."""

from __future__ import annotations

import argparse
import json
import secrets
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from engine.cli.arguments import flag
from engine.cli.following import follow
from engine.estimate.at_scale import PRECISIONS, takes
from engine.estimate.published import WELL_KNOWN
from engine.foundation.formatting import in_bytes, in_fine_time
from engine.runs.store import Runs
from engine.settings.fields import to_text
from engine.sweeps import KINDS
from engine.sweeps.plan import SETTINGS, read_plan
from engine.sweeps.result import Result
from engine.sweeps.store import keep, to_json
from engine.sweeps.sweep import Sweep
from engine.sweeps.visit import QUANTITIES
from engine.workers.pool import Pool

HELP = "measure memory and time against length or depth"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--models", action="store_true", help="what well-known models take, by formula; nothing is measured"
    )
    parser.add_argument("--precision", choices=list(PRECISIONS), default="bf16", help="of those models; default bf16")
    parser.add_argument("--kinds", metavar="KIND,KIND", help=f"default all: {', '.join(KINDS)}")
    for row in SETTINGS.values():
        parser.add_argument(
            flag(row.name),
            metavar="{" + ",".join(row.choices) + "}" if row.choices else row.kind.upper(),
            help=f"{row.help} Default {to_text(row.default)}.",
        )


def run(given: argparse.Namespace) -> int:
    if given.models:
        _show_models(given.precision, as_json=given.json)
        return 0
    names = ("kinds", *SETTINGS)
    plan = read_plan({name: getattr(given, name) for name in names if getattr(given, name) is not None})
    with TemporaryDirectory() as folder, Pool(Runs(Path(folder))) as pool:
        pool.wait_until_ready(120, 1)
        sweep = Sweep(plan, pool).start()
        follow(sweep, "cost")
    if sweep.state == "failed":
        raise ValueError(sweep.problem)
    keep(secrets.token_urlsafe(12), sweep.result)
    if given.json:
        print(json.dumps(to_json(sweep.result), allow_nan=False))
    else:
        Console().print(points_table(sweep.result))
        Console().print(fits_table(sweep.result))
        for skip in sweep.result.skips:
            Console().print(f"{KINDS[skip.kind].label} from {skip.place:,} on was left out: {skip.why}")
    return 0


def points_table(result: Result) -> Table:
    axis = {"length": "tokens", "depth": "layers"}[result.plan.axis]
    device = result.machine.device if result.machine else ""
    table = Table(
        "kind", axis, "training step", "highest / lowest", "pass", "next token, past kept", "saved", title=device
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for kind in result.plan.kinds:
        columns = {name: {at.place: at for at in result.summaries(kind, name)} for name in QUANTITIES}
        for place, step in columns["train"].items():
            others = (columns[name].get(place) for name in ("inference", "cached"))
            saved = columns["saved"].get(place)
            table.add_row(
                KINDS[kind].label, f"{place:,}", in_fine_time(step.value), f"{step.high / step.low:.2f}",
                *("" if other is None else in_fine_time(other.value) for other in others), in_bytes(saved.value) if saved else "",
            )  # fmt: skip
    return table


def fits_table(result: Result) -> Table:
    table = Table(
        "kind", "of", "exponent", "95 % interval", "over", "says", title="Power laws, over the upper part of each range"
    )
    for name, fit in result.fits.items():
        kind, _, quantity = name.partition(".")
        interval, over = f"{fit.low:.2f} to {fit.high:.2f}", f"{fit.first:,.0f} to {fit.last:,.0f}"
        table.add_row(KINDS[kind].label, quantity, f"{fit.exponent:.2f}", interval, over, fit.says)
    return table


def _show_models(precision: str, *, as_json: bool) -> None:
    table = Table(
        "model", "parameters", "weights", "gradients", "AdamW", "cache a token", "context", "cache", title="Predicted"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for model in WELL_KNOWN.values():
        found = takes(model, PRECISIONS[precision], model.context)
        if as_json:
            print(json.dumps({"model": model.name, "precision": precision, "context": model.context, **asdict(found)}))
        sizes = (found.weights, found.gradients, found.optimizer, found.cache_per_token)
        table.add_row(
            model.label, f"{found.parameters:,}", *map(in_bytes, sizes), f"{model.context:,}", in_bytes(found.cache)
        )
    if not as_json:
        Console().print(table)

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from engine.analysis.attention.requests import ModelRequest
from engine.analysis.depth.jobs import DEPTHS, DepthNumbers, MeasureRunDepth, by_seed, dial
from engine.analysis.depth.sentences import across, depth_sentences
from engine.cli.arguments import add_setting, all_settings, refuse
from engine.cli.terminal import console, print_json, table
from engine.foundation.formatting import counted
from engine.foundation.provenance import provenance
from engine.runs.folder import RunFolder
from engine.settings.errors import ConfigError, Problem
from engine.settings.fields import whole_number

SWITCHES = ("skips", "mlp", "norm", "seed")
DEEPEST = DEPTHS[-1]
SEEDS, MAX_SEEDS = 4, 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "folder",
        nargs="?",
        type=Path,
        metavar="FOLDER",
        help="folder of train --save: measures the model after each of its layers",
    )
    parser.add_argument(
        "--encoding", "--pos-encoding", dest="pos_encoding", metavar="NAME", help="positional encoding; default rope",
    )  # fmt: skip
    for name in SWITCHES:
        add_setting(parser, all_settings()[name])
    parser.add_argument("--length", dest="seq_len", metavar="INT", help="tokens of a sequence; default 64")
    default = ",".join(map(str, DEPTHS))
    parser.add_argument("--depths", metavar="INTS", help=f"numbers of layers, 1 to {DEEPEST}; default {default}")
    parser.add_argument("--seeds", metavar="INT", help=f"draws of initial weights, 1 to {MAX_SEEDS}; default {SEEDS}")


def run(arguments: argparse.Namespace) -> int:
    options = {name: vars(arguments)[name] for name in ("pos_encoding", *SWITCHES, "seq_len", "depths", "seeds")}
    options = {name: value for name, value in options.items() if value is not None}
    if arguments.folder is not None:
        refuse(options, "FOLDER")
        draws, title = _of_run(arguments.folder), str(arguments.folder)
    else:
        depths, number = _depths(options.pop("depths", None)), _number_of_seeds(options.pop("seeds", None))
        config = dial(**options)
        draws = by_seed(config, range(config.seed, config.seed + number), depths)
        title = f"{config.pos_encoding}, untrained, length {config.seq_len}, median of {counted(number, 'seed')}"
    import torch  # about a second

    torch.set_num_threads(1)  # of small matrices more threads only wait for each other
    if arguments.json:
        for number, numbers in enumerate(draws):
            print_json(*({"draw": number, **row, "provenance": provenance()} for row in rows_of(numbers)))
    else:
        show(across(list(draws)), title)
    return 0


def _of_run(path: Path) -> Iterator[DepthNumbers]:
    """Raises ValueError with one sentence if the folder holds no run."""
    folder = RunFolder(path)
    try:
        _, config, _, _ = folder.read_config()
    except (OSError, ValueError):
        raise ValueError(f"{path} is not a folder that train --save wrote.") from None
    request = ModelRequest(config, str(folder.weights.absolute()))
    return map(MeasureRunDepth.do, [MeasureRunDepth(request)])


def _depths(given: str | None) -> tuple[int, ...]:
    """The depths in ascending order. Raises ConfigError."""
    depths = set(DEPTHS) if given is None else {whole_number(part.strip(), 1, DEEPEST) for part in given.split(",")}
    if None in depths:
        raise ConfigError([Problem("depths", given or "", f"whole numbers from 1 to {DEEPEST}, separated by commas")])
    return tuple(sorted(depth for depth in depths if depth))


def _number_of_seeds(given: str | None) -> int:
    """Raises ConfigError."""
    number = SEEDS if given is None else whole_number(given, 1, MAX_SEEDS)
    if number is None:
        raise ConfigError([Problem("seeds", given or "", f"a whole number from 1 to {MAX_SEEDS}")])
    return number


def rows_of(numbers: DepthNumbers) -> Iterator[dict[str, object]]:
    """One row for each depth; None for a number that is not finite."""
    by_depth = {name: value for name, value in numbers.items() if name not in ("depths", "lengths", "gradient")}
    for at, depth in enumerate(numbers["depths"].tolist()):
        yield {
            "depth": depth,
            "lengths": numbers["lengths"].tolist(),
            **{name: _finite(values[at]) for name, values in by_depth.items()},  # type: ignore[index]
            "gradient": {norm: _finite(values[at]) for norm, values in numbers["gradient"].items()},
        }


def _finite(values: np.ndarray) -> object:
    return np.where(np.isfinite(values), np.asarray(values, object), np.array(None)).tolist()


def show(numbers: DepthNumbers, title: str) -> None:
    lengths = numbers["lengths"].tolist()
    columns = {
        "roll-out on\ntoken 0": numbers["roll_out"][:, 0],
        "the layer's\nown weight": numbers["layer_weight"][:, 0],
        "tokens\ndiffer by": numbers["token_share"],
        **{f"token 0\nat {n}": numbers["first_token"][:, at] for at, n in enumerate(lengths)},
        **{f"0 1^n, equal\nat {n}": numbers["repeat_equal"][:, -1] for n in lengths[-1:]},
        **{f"gradient,\n{norm}": values for norm, values in numbers["gradient"].items()},
    }
    depths = numbers["depths"].tolist()
    rows = ((str(depth), *(f"{values[at]:.2g}" for values in columns.values())) for at, depth in enumerate(depths))
    console().print(table(title, ("layers", *columns), rows, left=0))
    for reading in depth_sentences(numbers, depths[-1]):
        print(f"{reading.question} {reading.sentence}\n  {reading.source}, {reading.address}")

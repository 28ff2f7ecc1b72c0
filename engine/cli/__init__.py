"""The command line. A new command is one small file and one row in :data:`COMMANDS`."""

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Sequence
from io import TextIOWrapper
from typing import NamedTuple, NoReturn

from engine import VERSION
from engine.cli import depth, encodings, issue, predict, sample, train
from engine.cli.arguments import add_settings
from engine.cli.terminal import reason_of
from engine.config.link import flag
from engine.foundation.errors import NoWorkers
from engine.settings.errors import excerpt
from engine.settings.names import did_you_mean

PROGRAM = "python -m engine"
BAD_INPUT = 2


class Command(NamedTuple):
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]  # returns the exit code


COMMANDS = {
    "train": Command("train one run", train.add_arguments, train.run),
    "sample": Command("write from a prompt with a saved run on a text", sample.add_arguments, sample.run),
    "encodings": Command("list the positional encodings", encodings.add_arguments, encodings.run),
    "predict": Command("predict memory and time of a run", add_settings, predict.run),
    "depth": Command("measure the effect of depth, before training or of a saved run", depth.add_arguments, depth.run),
    "issues": Command("list the documented issues", lambda parser: None, issue.list_issues),
    "issue": Command("run a documented issue and print its findings", issue.add_arguments, issue.run),
}
# sentences about commands and options of earlier versions, by command and option
REMOVED = {
    ("cost", ""): "cost was removed; the page Cost measures it.",
    ("encodings", "--need"): "--need was removed; the page Encodings answers it.",
    ("encodings", "--measure"): "--measure was removed; python -m tools.evidence choice measures the table.",
    ("encodings", "--write"): "--write was removed; python -m tools.evidence choice writes the table.",
    ("issue", "--rates"): "--rates was removed; python -m tools.rates measures them.",
    ("issue", "--write"): "--write was removed; python -m tools.evidence writes the evidence.",
}


class OneLineParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    name = PROGRAM
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal or file that cannot show a letter has a replacement sign
        sys.stdout.reconfigure(errors="replace")
    try:
        parser, arguments = _parser(), sys.argv[1:] if arguments is None else arguments
        if arguments and (sentence := REMOVED.get((arguments[0], ""))):
            parser.error(sentence)
        parsed, unknown = parser.parse_known_args(arguments)
        if unknown:
            parser.error(_unknown(parsed.command, unknown, vars(parsed)))
        name = f"{PROGRAM} {parsed.command}"
        return COMMANDS[parsed.command].run(parsed)
    except ValueError as error:
        print(f"{name}: {error}", file=sys.stderr)
        return BAD_INPUT
    except NoWorkers as error:
        print(f"{name}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return train.INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is still to be written goes nowhere
        return 0
    except OSError as error:
        print(f"{name}: {reason_of(error)}", file=sys.stderr)
        return BAD_INPUT


def _unknown(command: str, given: Sequence[str], known: Iterable[str]) -> str:
    """``known``: the names of the command's options. Also for a word without an option."""

    def sentence(option: str) -> str:
        none = f"There is no option {excerpt(option)}. {did_you_mean(option, flags)}".rstrip()
        return REMOVED.get((command, option), none)

    options = [part.partition("=")[0] for part in given if part.startswith("-")]
    flags = [flag(name) for name in known]
    return " ".join(map(sentence, options)) or f"{excerpt(given[0])} is no option; options begin with --."


def _parser() -> OneLineParser:
    parser = OneLineParser(prog=PROGRAM, description="Attention Lab's engine, without a screen.")
    parser.add_argument("--version", action="version", version=f"Attention Lab {VERSION}")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=OneLineParser, metavar="command")
    for name, command in COMMANDS.items():
        sub = commands.add_parser(name, help=command.help, description=command.help, allow_abbrev=False)
        command.add_arguments(sub)
        sub.add_argument("--json", action="store_true", help="one JSON object per line")
    return parser

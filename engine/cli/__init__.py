"""The command line. A new command is one small file and one row in COMMANDS."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from engine.cli import cost, encodings, issue, issues, predict, sample, train

COMMANDS: dict[str, Any] = {
    "train": train,
    "sample": sample,
    "encodings": encodings,
    "predict": predict,
    "cost": cost,
    "issues": issues,
    "issue": issue,
}
"""Modules by command name; each has HELP, ``add_arguments(parser)`` and ``run(arguments) -> exit code``."""

BAD_INPUT = 2
INTERRUPTED = 130


class OneLineParser(argparse.ArgumentParser):
    """A parser that reports an error in one line on stderr and exits with 2."""

    def error(self, message: str) -> NoReturn:
        self.exit(BAD_INPUT, f"{self.prog}: {message}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = OneLineParser(prog="python -m engine", description="Attention Lab's engine, without a screen.")
    commands = parser.add_subparsers(dest="command", required=True, parser_class=OneLineParser, metavar="command")
    for name, module in COMMANDS.items():
        sub = commands.add_parser(name, help=module.HELP, description=module.HELP, allow_abbrev=False)
        module.add_arguments(sub)
        sub.add_argument("--json", action="store_true", help="one JSON object a line")
    given = parser.parse_args(arguments)
    try:
        code: int = COMMANDS[given.command].run(given)
        return code
    except ValueError as error:
        print(f"{parser.prog} {given.command}: {error}", file=sys.stderr)
        return BAD_INPUT
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}." if error.filename else str(error)
        print(f"{parser.prog} {given.command}: {reason}", file=sys.stderr)
        return BAD_INPUT

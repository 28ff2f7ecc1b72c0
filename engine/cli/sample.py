import argparse
import os
import sys
from pathlib import Path

from engine.analysis.text.jobs import WriteText
from engine.cli.terminal import print_json
from engine.runs.folder import RunFolder
from engine.tasks.text.tokens import unknown_in_words


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="folder of train --save")
    parser.add_argument("--prompt", required=True, help="text to continue")
    parser.add_argument("--length", type=int, default=60, help="tokens to write; default 60")
    parser.add_argument("--temperature", type=float, default=0.8, help="divides the logits; 0 is greedy; default 0.8")
    parser.add_argument("--top-k", type=int, help="draw only among this many of the most likely tokens")
    parser.add_argument("--seed", type=int, default=0, help="the same seed writes the same text; default 0")


def run(arguments: argparse.Namespace) -> int:
    folder = RunFolder(arguments.folder)
    try:
        _, config, _, _ = folder.read_config()
    except (OSError, ValueError):
        raise ValueError(f"{arguments.folder} is not a folder that train --save wrote.") from None
    how = (arguments.length, arguments.temperature, arguments.top_k, arguments.seed)
    prompt = os.fsencode(arguments.prompt).decode(
        "utf-8", "surrogateescape"
    )  # as typed, also where the system's letters are ASCII
    written = WriteText(config, str(folder.weights), prompt, *how).do()
    if arguments.json:
        print_json(written)
    else:
        print(written["prompt"] + written["text"])
        if written["unknown"]:
            print(unknown_in_words(written["unknown"]), file=sys.stderr)
    return 0

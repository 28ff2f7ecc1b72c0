import argparse
import sys
from collections.abc import Mapping
from functools import cache

from engine.config.link import flag
from engine.config.run_config import RunConfig, parse, settings_for
from engine.encodings import ENCODINGS
from engine.estimate.warnings import warnings_of
from engine.settings.fields import Setting, to_text
from engine.tasks import TASKS


@cache
def all_settings() -> dict[str, Setting]:
    settings: dict[str, Setting] = {}
    for task in TASKS:
        for encoding in ENCODINGS:
            settings |= {row.name: row for row in settings_for(task, encoding) if row.name not in settings}
    return settings


def add_setting(parser: argparse.ArgumentParser | argparse._ArgumentGroup, row: Setting) -> None:
    """Add an option whose value stays text: the reader of the settings checks it."""
    parser.add_argument(
        flag(row.name),
        dest=row.name,
        metavar="{" + ",".join(row.choices) + "}" if row.choices else row.kind.upper(),
        help=f"{row.help} Default {to_text(row.default) or 'none'}.".replace("%", "%%"),
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    groups: dict[str, argparse._ArgumentGroup] = {}
    for row in all_settings().values():
        add_setting(groups.setdefault(row.group, parser.add_argument_group(row.group)) if row.group else parser, row)


def settings_in(arguments: argparse.Namespace) -> dict[str, str]:
    return {name: getattr(arguments, name) for name in all_settings() if getattr(arguments, name) is not None}


def config_from(arguments: argparse.Namespace) -> RunConfig:
    """Print the config's warnings on stderr and return it. Raises ConfigError."""
    config = parse(settings_in(arguments))
    for sentence in warnings_of(config):
        print(sentence, file=sys.stderr)
    return config


def refuse(options: Mapping[str, object], beside: str) -> None:
    """Raises ValueError with one sentence if there are ``options``, none of which has a meaning with ``beside``."""
    for name, value in options.items():
        raise ValueError(f"{name} is {value}, which has no meaning with {beside}; leave one of the two out.")

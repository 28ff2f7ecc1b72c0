"""A command's options for RunConfig's settings, and the config that they give."""

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
    """Every setting that exists under any task and encoding."""
    found: dict[str, Setting] = {}
    for task in TASKS:
        for encoding in ENCODINGS:
            found |= {row.name: row for row in settings_for(task, encoding) if row.name not in found}
    return found


def add_setting(parser: argparse.ArgumentParser | argparse._ArgumentGroup, row: Setting) -> None:
    """Add one option. Its value stays text: who reads the settings checks them."""
    parser.add_argument(
        flag(row.name),
        dest=row.name,
        metavar="{" + ",".join(row.choices) + "}" if row.choices else row.kind.upper(),
        help=f"{row.help} Default {to_text(row.default) or 'none'}.".replace("%", "%%"),
    )


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Add one option for each of RunConfig's settings, in the table's groups."""
    groups: dict[str, argparse._ArgumentGroup] = {}
    for row in all_settings().values():
        add_setting(groups.setdefault(row.group, parser.add_argument_group(row.group)) if row.group else parser, row)


def settings_in(given: argparse.Namespace) -> dict[str, str]:
    """The settings of a run among the given options."""
    return {name: getattr(given, name) for name in all_settings() if getattr(given, name) is not None}


def config_from(given: argparse.Namespace) -> RunConfig:
    """The config of the given options; what is known to fail or to have no effect in it is said on stderr. Raises ConfigError."""
    config = parse(settings_in(given))
    for sentence in warnings_of(config):
        print(sentence, file=sys.stderr)
    return config


def refuse(options: Mapping[str, object], beside: str) -> None:
    """Raise ValueError with one sentence where there are ``options``, none of which counts beside another one."""
    for name, value in options.items():
        raise ValueError(f"{name} is {value}, which has no meaning with {beside}; leave one of the two out.")

"""Settings as options of the command line."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from engine.config.run_config import RunConfig
from engine.settings.fields import Value, to_text


def flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def as_options(values: Mapping[str, Value]) -> list[str]:
    """The options that set these values."""
    return [part for name, value in values.items() for part in (flag(name), to_text(value))]


def train_command(config: RunConfig) -> str:
    """The command that trains these settings, quoted for a shell; those at their defaults are left out."""
    usual = RunConfig().flat()
    own = {name: value for name, value in config.flat().items() if usual.get(name, ...) != value}
    return shlex.join(["python", "-m", "engine", "train", *as_options(own)])

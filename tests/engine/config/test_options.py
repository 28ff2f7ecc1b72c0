"""The command that the app shows for a run gives the same run again."""

from __future__ import annotations

import shlex

import pytest

from engine.cli import OneLineParser
from engine.cli.arguments import add_settings, config_from
from engine.config.link import train_command
from engine.config.presets import PRESETS
from engine.config.run_config import RunConfig


@pytest.mark.parametrize("config", [RunConfig(), *(preset.config for preset in PRESETS.values())])
def test_the_command_gives_the_same_config(config: RunConfig) -> None:
    python, dash, module, train, *options = shlex.split(train_command(config))
    assert (python, dash, module, train) == ("python", "-m", "engine", "train")
    parser = OneLineParser()
    add_settings(parser)
    assert config_from(parser.parse_args(options)) == config
    assert train_command(RunConfig()) == "python -m engine train"
